// The blocks of a cluster read each other's shared memory, with a cluster barrier before and after.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:64
// result: arg 0 = np.concatenate([100 + np.arange(32)[::-1], np.arange(32)[::-1]])
__device__ void meet() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
__global__ void kernel(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x, rank = __clusterRelativeBlockRank();
    s[t] = 100 * rank + t;
    meet();
    int* other = (int*)__cluster_map_shared_rank(s, 1 - rank);
    out[blockIdx.x * 32 + t] = other[31 - t];
    meet();
}
