// A block may end while its neighbour still reads its shared memory.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:64
// hazard: error, "nothing keeps that block from ending before"
#include <cooperative_groups.h>
__global__ void kernel(int* out) {
    auto cluster = cooperative_groups::this_cluster();
    __shared__ int s[32];
    int t = threadIdx.x, rank = cluster.block_rank();
    s[t] = 100 * rank + t;
    cluster.sync();
    int* other = cluster.map_shared_rank(s, 1 - rank);
    out[blockIdx.x * 32 + t] = other[31 - t];  // here
}
