// Thread 0 stores, thread 32 fences, thread 64 sets the flag: barriers chain the three threads together.
// launch: --grid 2 --block 96 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [9]
__global__ void kernel(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) *data = 9;
        __syncthreads();
        if (threadIdx.x == 64) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (threadIdx.x == 32) {
            while (*flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        if (threadIdx.x == 0) *out = *data;
    }
}
