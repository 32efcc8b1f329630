// A producer warp and a consumer warp share one buffer; parity 1 lets the producer pass for the first time.
// launch: --block 64 --arg i32:128
// result: arg 0 = np.arange(128)
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
    __shared__ long long barriers[2];
    __shared__ int s[32];
    int lane = threadIdx.x % 32;
    unsigned full = __cvta_generic_to_shared(&barriers[0]), empty = full + 8;
    if (threadIdx.x < 2) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(full + 8 * threadIdx.x) : "memory");
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 32) {
            wait(empty, i % 2 ^ 1);
            s[31 - lane] = i * 32 + 31 - lane;
            arrive(full);
        } else {
            wait(full, i % 2);
            out[i * 32 + lane] = s[lane];
            arrive(empty);
        }
    }
}
