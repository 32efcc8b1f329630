// Blocks draw work from a counter. Two barriers keep the number in shared memory until all threads have read it.
// launch: --grid 3 --block 64 --arg i32:512:arange --arg i32:512 --arg i32:1 --arg 8
// result: arg 1 = 2 * args[0]
__global__ void kernel(const int* in, int* out, int* next, int n) {
    __shared__ int drawn;
    while (true) {
        if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
        __syncthreads();
        int mine = drawn;
        __syncthreads();
        if (mine >= n) return;
        out[mine * 64 + threadIdx.x] = 2 * in[mine * 64 + threadIdx.x];
    }
}
