// The reader of a slot frees it for the block that fills it, but its arrival there has the scope of its own block.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:32
// hazard: race, "needs .release.cluster"
__global__ void kernel(int* out) {
    __shared__ int slot[32];
    __shared__ unsigned long long bar;
    unsigned t = threadIdx.x, at = __cvta_generic_to_shared(&bar), mine = __cvta_generic_to_shared(&slot[t]), done = 0;
    slot[t] = 7 * t;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (blockIdx.x == 1) {
        out[t] = slot[31 - t];  // here
        asm volatile("{ .reg .b32 b; mapa.shared::cluster.u32 b, %0, 0; mbarrier.arrive.release.cta.shared::cluster.b64 _, [b]; }"
                     :: "r"(at) : "memory");
    } else {
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at) : "memory");
        asm volatile("{ .reg .b32 s; mapa.shared::cluster.u32 s, %0, 1; st.shared::cluster.u32 [s], %1; }" :: "r"(mine), "r"(t) : "memory");  // here
    }
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
