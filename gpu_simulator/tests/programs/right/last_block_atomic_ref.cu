// The same with cuda::atomic_ref, whose fetch_add has memory_order_acq_rel at device scope.
// launch: --grid 4 --block 32 --arg i32:128 --arg u32:1 --arg i32:32
// result: arg 2 = np.full(32, 6)
#include <cuda/atomic>
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    part[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
    __syncwarp();
    unsigned ticket = 0;
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*tickets);
        ticket = counter.fetch_add(1, cuda::memory_order_acq_rel);
    }
    ticket = __shfl_sync(~0u, ticket, 0);
    __syncwarp();
    if (ticket != 3) return;
    int total = 0;
    for (int b = 0; b < 4; b++) total += part[b * 32 + threadIdx.x];
    sum[threadIdx.x] = total;
}
