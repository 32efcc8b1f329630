// The copies of all threads arrive at an mbarrier when they are complete; whoever waits for it may read them.
// launch: --block 64 --arg i32:64 --arg i32:64:arange
// result: arg 0 = np.arange(64)[::-1]
__device__ void wait(unsigned bar, int parity) {
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}
__global__ void kernel(int* out, const int* in) {
    __shared__ long long barrier;
    __shared__ int s[64];
    int t = threadIdx.x;
    unsigned bar = __cvta_generic_to_shared(&barrier);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(bar) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%2];"
                 :: "r"((unsigned)__cvta_generic_to_shared(&s[t])), "l"(in + t), "r"(bar) : "memory");
    wait(bar, 0);
    out[t] = s[63 - t];
}
