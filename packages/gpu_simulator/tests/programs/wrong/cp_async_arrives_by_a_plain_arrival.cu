// The thread arrives at once, and not when its copy is complete, so the copy may still be on its way.
// launch: --block 64 --arg i32:64 --arg i32:64:arange
// hazard: error, "while a cp.async may still be writing it"
__device__ void arrive(unsigned bar) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(bar) : "memory");
}
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
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"((unsigned)__cvta_generic_to_shared(&s[t])), "l"(in + t) : "memory");
    arrive(bar);
    wait(bar, 0);
    out[t] = s[63 - t];  // here
}
