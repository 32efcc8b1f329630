// A block writes into its neighbour, which writes nothing there itself: no race, but the neighbour may not have started.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:64
// hazard: error, "may not have started yet"
__device__ void meet() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
__global__ void kernel(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x, rank = __clusterRelativeBlockRank();
    int* other = (int*)__cluster_map_shared_rank(s, 1 - rank);
    other[t] = 100 * rank + t;  // here
    meet();
    out[blockIdx.x * 32 + t] = s[31 - t];
}
