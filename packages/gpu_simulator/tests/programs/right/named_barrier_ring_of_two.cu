// A producer warp and a consumer warp, two buffers, and for each buffer a barrier “full” and a barrier “empty”.
// launch: --block 64 --arg i32:192
// result: arg 0 = np.arange(192)
__device__ void meet(int number) { asm volatile("bar.sync %0, 64;" :: "r"(number) : "memory"); }
__device__ void tell(int number) { asm volatile("bar.arrive %0, 64;" :: "r"(number) : "memory"); }
__global__ void kernel(int* out) {
    __shared__ int s[2][32];
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 6; i++) {
        int b = i % 2;
        if (threadIdx.x < 32) {
            if (i >= 2) meet(3 + b);
            s[b][31 - lane] = i * 32 + 31 - lane;
            tell(1 + b);
        } else {
            meet(1 + b);
            out[i * 32 + lane] = s[b][lane];
            if (i < 4) tell(3 + b);
        }
    }
}
