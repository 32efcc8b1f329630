// A block has arrived, so it knows of itself that it has started, but it has not waited for the others.
// launch: --grid 4 --block 64 --cluster 4 --arch sm_90 --arg i32:4
// hazard: error, "may not have started yet"
__global__ void kernel(int* out) {
    __shared__ int marks[4];
    int t = threadIdx.x, rank = __clusterRelativeBlockRank();
    __cluster_barrier_arrive();
    if (t < 4) ((int*)__cluster_map_shared_rank(marks, t))[rank] = rank + 1;  // here
    __cluster_barrier_wait();
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    if (t == 0) out[blockIdx.x] = marks[0] + marks[1] + marks[2] + marks[3];
}
