// arrive.release and wait.acquire are the two halves of the cluster barrier.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:64
// result: arg 0 = np.concatenate([100 + np.arange(32)[::-1], np.arange(32)[::-1]])
__global__ void kernel(int* out) {
    __shared__ int s[32];
    unsigned rank, at = __cvta_generic_to_shared(&s[31 - threadIdx.x]), remote;
    int t = threadIdx.x, value;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    s[t] = 100 * rank + t;
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(at), "r"(1 - rank));
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(remote) : "memory");
    out[blockIdx.x * 32 + t] = value;
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
