// Those who happen to run together add once for their group. Any split into groups gives the same count.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:1
// result: arg 1 = [43]
#include <cooperative_groups.h>
__global__ void kernel(const int* in, int* count) {
    if (in[blockIdx.x * 64 + threadIdx.x] % 3) return;
    auto group = cooperative_groups::coalesced_threads();
    if (group.thread_rank() == 0)
        atomicAdd(count, group.size());
}
