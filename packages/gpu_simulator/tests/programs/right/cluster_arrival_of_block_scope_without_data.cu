// A block that waits for an arrival has not ended before it, of whatever scope that is.
// launch: --grid 2 --block 32 --cluster 2 --arch sm_90 --arg i32:32
// result: arg 0 = np.arange(32)
__global__ void kernel(int* out) {
    __shared__ unsigned long long bar;
    unsigned t = threadIdx.x, at = __cvta_generic_to_shared(&bar), done = 0;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (blockIdx.x == 1) {
        asm volatile("{ .reg .b32 b; mapa.shared::cluster.u32 b, %0, 0; mbarrier.arrive.release.cta.shared::cluster.b64 _, [b]; }"
                     :: "r"(at) : "memory");
        return;
    }
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
    out[t] = t;
}
