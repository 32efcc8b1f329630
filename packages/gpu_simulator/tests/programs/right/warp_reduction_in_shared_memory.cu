// A warp adds in shared memory, with __syncwarp() between every load and the next store, and after the store.
// launch: --block 32 --arg i32:32:arange --arg i32:1
// result: arg 1 = [496]
__global__ void kernel(const int* in, int* sum) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[lane];
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        int other = s[(lane + step) % 32];
        __syncwarp();
        if (lane < step) s[lane] += other;
        __syncwarp();
    }
    if (lane == 0) *sum = s[0];
}
