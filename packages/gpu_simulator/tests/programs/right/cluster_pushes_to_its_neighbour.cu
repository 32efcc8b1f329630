// Each block stores into the shared memory of its neighbour and reads its own after the cluster barrier.
// launch: --grid 4 --block 32 --cluster 2 --arch sm_90 --arg i32:128
// result: arg 0 = np.arange(128).reshape(2, 2, 32)[:, ::-1]
__global__ void kernel(int* out) {
    __shared__ int s[32];
    unsigned rank, at = __cvta_generic_to_shared(&s[threadIdx.x]), remote;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(at), "r"(1 - rank));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    asm volatile("st.shared::cluster.s32 [%0], %1;" :: "r"(remote), "r"(blockIdx.x * 32 + threadIdx.x) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
