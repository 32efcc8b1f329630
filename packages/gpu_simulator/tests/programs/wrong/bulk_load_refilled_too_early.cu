// The second copy is asked for without waiting until all threads have read the first.
// launch: --block 64 --arch sm_90 --arg i32:128:arange --arg i32:128
// hazard: race, "nothing tells that it has read it"
__device__ void wait(unsigned bar, int parity) {
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}
__global__ void kernel(const int* in, int* out) {
    __shared__ __align__(16) int tile[64];
    __shared__ long long barrier;
    unsigned at = __cvta_generic_to_shared(tile), bar = __cvta_generic_to_shared(&barrier);
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(bar) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                         :: "r"(at), "l"(in + 64 * i), "r"(bar) : "memory");  // here
        }
        wait(bar, i);
        out[64 * i + t] = tile[63 - t];  // here
    }
}
