// A warp transposes a tile of 32 x 4 through its own part of shared memory, with __syncwarp() alone.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// result: arg 1 = args[0].reshape(2, 4, 32).transpose(0, 2, 1)
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[2][128];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) s[warp][lane * 4 + i] = in[warp * 128 + i * 32 + lane];
    __syncwarp();
    for (int i = 0; i < 4; i++) out[warp * 128 + i * 32 + lane] = s[warp][i * 32 + lane];
}
