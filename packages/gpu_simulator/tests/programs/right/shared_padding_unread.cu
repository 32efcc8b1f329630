// A padded tile: the padding is never written, and never read either.
// launch: --block 32,8 --arg i32:32x32:arange --arg i32:32x32
// result: arg 1 = args[0].T
__global__ void kernel(const int* in, int* out) {
    __shared__ int tile[32][33];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) tile[y][x] = in[y * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) out[y * 32 + x] = tile[x][y];
}
