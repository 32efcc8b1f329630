// Each half of the block has a barrier of its own, with its own number and 64 threads.
// launch: --block 128 --arg i32:128
// result: arg 0 = np.arange(128).reshape(2, 64)[:, ::-1]
__global__ void kernel(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, half = t / 64;
    s[t] = t;
    asm volatile("bar.sync %0, 64;" :: "r"(1 + half) : "memory");
    out[t] = s[half * 64 + 63 - t % 64];
}
