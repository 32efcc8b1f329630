// Block 1 stores into block 0 and arrives at its mbarrier; release and acquire have the scope of the cluster.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:32
// result: arg 0 = 9 * np.arange(32)
__global__ void kernel(int* out) {
    __shared__ int s[32];
    __shared__ long long barrier;
    unsigned bar = __cvta_generic_to_shared(&barrier), at = __cvta_generic_to_shared(&s[threadIdx.x]);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (blockIdx.x == 1) {
        asm volatile("{ .reg .b32 r, b; mapa.shared::cluster.u32 r, %0, 0; mapa.shared::cluster.u32 b, %1, 0;"
                     " st.shared::cluster.s32 [r], %2; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [b]; }"
                     :: "r"(at), "r"(bar), "r"(9 * threadIdx.x) : "memory");
    } else {
        int done;
        do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;"
                        " selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
        while (!done);
        out[threadIdx.x] = s[threadIdx.x];
    }
}
