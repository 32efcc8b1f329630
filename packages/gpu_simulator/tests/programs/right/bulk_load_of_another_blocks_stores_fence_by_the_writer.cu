// Block 0 stores a row and sets a flag; block 1 loads the row with a bulk copy, and the writer executes the proxy fence.
// launch: --arch sm_90a --grid 2 --block 64 --arg i32:64 --arg i32:1 --arg i32:64
// result: arg 2 = 3 * np.arange(63, -1, -1)
#define PROXY_FENCE asm volatile("fence.proxy.async;" ::: "memory");
#define ON_WRITERS_SIDE 1
__global__ void kernel(int* data, int* flag, int* out) {
    __shared__ alignas(16) int s[64];
    __shared__ unsigned long long barrier;
    unsigned bar = __cvta_generic_to_shared(&barrier), at = __cvta_generic_to_shared(s), done = 0, t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 3 * t;
        if (ON_WRITERS_SIDE) { PROXY_FENCE }
        __syncthreads();
        __threadfence();
        if (t == 0) atomicExch(flag, 1);
        return;
    }
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(bar) : "memory");
        while (*(volatile int*)flag == 0) {}
        __threadfence();
        if (!ON_WRITERS_SIDE) { PROXY_FENCE }
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(bar) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(at), "l"(data), "r"(bar) : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(bar) : "memory");
    out[t] = s[63 - t];
}
