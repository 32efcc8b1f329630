// All threads know the result, and one of them stores it.
// launch: --grid 1 --block 64 --arg i32:64:ones --arg i32:1
// result: arg 1 = [64]
__global__ void kernel(const int* in, int* out) {
    int count = __syncthreads_count(in[threadIdx.x]);
    if (threadIdx.x == 0)
        *out = count;
}
