// A block reads the shared memory of its neighbour before that has written it.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:64
// hazard: race, "nothing orders the two blocks of the cluster"
__device__ void meet() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
__global__ void kernel(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x, rank = __clusterRelativeBlockRank();
    s[t] = 100 * rank + t;  // here
    int* other = (int*)__cluster_map_shared_rank(s, 1 - rank);
    out[blockIdx.x * 32 + t] = other[31 - t];  // here
    meet();
}
