// The second tile is awaited with the parity of the first, whose phase is over, so nobody waits for it.
// launch: --block 32 --arch sm_90 --arg i32:64:arange --arg i32:64
// timing: late
// hazard: error, "was for phase 0"
__device__ void wait(unsigned bar, int parity) {
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}
__global__ void kernel(const int* in, int* out) {
    __shared__ __align__(16) int tile[2][32];
    __shared__ long long barrier;
    unsigned bar = __cvta_generic_to_shared(&barrier), t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(bar) : "memory");
    __syncwarp();
    for (int i = 0; i < 2; i++) {
        unsigned at = __cvta_generic_to_shared(tile[i]);
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" :: "r"(bar) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                         :: "r"(at), "l"(in + 32 * i), "r"(bar) : "memory");
        }
        __syncwarp();
        wait(bar, 0);
        out[32 * i + t] = tile[i][31 - t];  // here
        __syncwarp();
    }
    wait(bar, 1);
}
