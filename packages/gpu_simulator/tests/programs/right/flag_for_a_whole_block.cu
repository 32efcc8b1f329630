// One thread of block 1 waits for the flag and fences; a barrier passes what it saw on to its block.
// launch: --grid 2 --block 64 --arg i32:64 --arg i32:1 --arg i32:64
// result: arg 2 = 3 * np.arange(64)[::-1]
__global__ void kernel(int* data, volatile int* flag, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 3 * t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
        return;
    }
    if (t == 0) {
        while (*flag == 0) {}
        __threadfence();
    }
    __syncthreads();
    out[t] = data[63 - t];
}
