// Every warp of block 1 waits for the flag itself, all lanes at once, and fences.
// launch: --grid 2 --block 64 --arg i32:64 --arg i32:1 --arg i32:64
// result: arg 2 = np.arange(64)[::-1]
__global__ void kernel(int* data, volatile int* flag, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __threadfence();
        __syncthreads();
        if (t == 0) *flag = 1;
        return;
    }
    while (*flag == 0) {}
    __threadfence();
    out[t] = data[63 - t];
}
