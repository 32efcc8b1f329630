// A block loads with a bulk copy what it has just stored, behind a fence of global memory and a barrier.
// launch: --arch sm_90a --block 64 --arg i32:64 --arg i32:64
// result: arg 1 = 3 * np.arange(63, -1, -1)
__global__ void kernel(int* data, int* out) {
    __shared__ alignas(16) int s[64];
    __shared__ unsigned long long barrier;
    unsigned bar = __cvta_generic_to_shared(&barrier), at = __cvta_generic_to_shared(s), done = 0, t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(bar) : "memory");
    data[t] = 3 * t;
    asm volatile("fence.proxy.async.global;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(bar) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(at), "l"(data), "r"(bar) : "memory");
    }
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(bar) : "memory");
    out[t] = s[63 - t];
}
