// One thread arrives 32 times at once, for its whole warp, behind __syncwarp().
// launch: --block 64 --arg i32:64
// result: arg 0 = np.arange(64)[::-1]
__global__ void kernel(int* out) {
    __shared__ long long barrier;
    __shared__ int s[64];
    int t = threadIdx.x, done;
    unsigned bar = __cvta_generic_to_shared(&barrier);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(bar) : "memory");
    __syncthreads();
    s[t] = t;
    __syncwarp();
    if (t % 32 == 0)
        for (int i = 0; i < 32; i++)
            asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(bar) : "memory");
    do asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(bar) : "memory");
    while (!done);
    out[t] = s[63 - t];
}
