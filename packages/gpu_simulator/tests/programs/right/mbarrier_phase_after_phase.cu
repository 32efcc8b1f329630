// The parity that is waited for turns with every phase.
// launch: --block 64 --arg i32:64
// result: arg 0 = 3 * np.arange(64)[::-1] + 3
__device__ void arrive(unsigned bar) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(bar) : "memory");
}
__device__ void wait(unsigned bar, int parity) {
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}
__global__ void kernel(int* out) {
    __shared__ long long barrier;
    __shared__ int s[64];
    int t = threadIdx.x;
    unsigned bar = __cvta_generic_to_shared(&barrier);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(bar) : "memory");
    __syncthreads();
    int sum = 0;
    for (int phase = 0; phase < 6; phase++) {
        if (phase % 2 == 0) s[t] = t + phase / 2;
        arrive(bar);
        wait(bar, phase % 2);
        if (phase % 2 == 0) sum += s[63 - t];
    }
    out[t] = sum;
}
