// A cuda::barrier is destroyed by thread 0 as soon as it has waited, while others may still wait at it.
// launch: --arch sm_80 --block 64 --arg i32:64
// hazard: error, "invalidates the mbarrier"
#include <cuda/barrier>
__global__ void kernel(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    __syncthreads();
    bar.arrive_and_wait();
    if (t == 0) bar.~barrier();  // here
    out[t] = t;
}
