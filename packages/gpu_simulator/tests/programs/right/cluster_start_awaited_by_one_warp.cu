// All warps arrive and one waits until the blocks of the cluster have started; __syncthreads() tells the other of it.
// launch: --grid 2 --block 64 --cluster 2 --arch sm_90 --arg i32:128
// result: arg 0 = np.concatenate([100 + np.arange(64), np.arange(64)])
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, rank = __clusterRelativeBlockRank();
    __cluster_barrier_arrive();
    if (t >= 32) __cluster_barrier_wait();
    __syncthreads();
    int* other = (int*)__cluster_map_shared_rank(s, 1 - rank);
    other[t] = 100 * rank + t;
    if (t < 32) __cluster_barrier_wait();
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    out[blockIdx.x * 64 + t] = s[t];
}
