// A block may count in bins that its neighbour has not cleared yet.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:64:arange --arg i32:8
// hazard: race, "nothing orders the two blocks of the cluster"
#include <cooperative_groups.h>
__global__ void kernel(const int* in, int* out) {
    auto cluster = cooperative_groups::this_cluster();
    __shared__ int bins[4];
    int t = threadIdx.x;
    if (t < 4) bins[t] = 0;  // here
    __syncthreads();
    int value = in[blockIdx.x * 32 + t] % 8;
    atomicAdd(&cluster.map_shared_rank(bins, value / 4)[value % 4], 1);  // here
    cluster.sync();
    if (t < 4) out[blockIdx.x * 4 + t] = bins[t];
}
