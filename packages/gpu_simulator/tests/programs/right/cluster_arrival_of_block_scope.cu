// A block stores into its neighbour and arrives at the neighbour's mbarrier with the scope of its own block, which is tolerated.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:64
// result: arg 0 = np.concatenate([100 + np.arange(31, -1, -1), np.arange(31, -1, -1)])
__global__ void kernel(int* out) {
    __shared__ int s[32];
    __shared__ unsigned long long bar;
    unsigned t = threadIdx.x, rank = blockIdx.x % 2, done = 0;
    unsigned at = __cvta_generic_to_shared(&bar), mine = __cvta_generic_to_shared(&s[t]), there, place;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(1 - rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(place) : "r"(mine), "r"(1 - rank));
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(place), "r"(100 * rank + t) : "memory");
    asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" :: "r"(there) : "memory");
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
    out[32 * blockIdx.x + t] = s[31 - t];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
