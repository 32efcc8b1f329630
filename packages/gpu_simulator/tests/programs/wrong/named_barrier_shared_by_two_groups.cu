// Both halves use barrier 1 with 64 threads. Any two warps complete it, so a half may go on without its other warp.
// launch: --block 128 --arg i32:128
// hazard: error, "use a barrier with another number"
__global__ void kernel(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, half = t / 64;
    s[t] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");  // here
    out[t] = s[half * 64 + 63 - t % 64];
}
