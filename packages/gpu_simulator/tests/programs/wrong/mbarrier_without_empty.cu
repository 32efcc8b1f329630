// The producer does not wait until the consumer has read the buffer.
// launch: --block 64 --arg i32:128
// hazard: race, "no barrier"
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
            // Here it should wait until the buffer is empty.
            s[31 - lane] = i * 32 + 31 - lane;  // here
            arrive(full);
        } else {
            wait(full, i % 2);
            out[i * 32 + lane] = s[lane];  // here
            arrive(empty);
        }
    }
}
