// Warps that store arrive and go on, and the others wait; both name the 128 threads of both.
// launch: --block 128 --arg i32:64
// result: arg 0 = np.arange(63, -1, -1)
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = t;
        asm volatile("barrier.arrive 3, 128;" ::: "memory");
    } else {
        asm volatile("barrier.sync 3, 128;" ::: "memory");
        out[t - 64] = s[127 - t];
    }
}
