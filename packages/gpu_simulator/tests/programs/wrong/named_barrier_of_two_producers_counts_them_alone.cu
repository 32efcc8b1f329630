// Two warps store and one waits for both, but the barrier counts 64 threads, which the two that arrive are by themselves.
// launch: --block 96 --arg i32:32
// fault: Deadlock, "64 is too small a number"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = t;
        asm volatile("barrier.arrive 5, 64;" ::: "memory");
    } else {
        asm volatile("barrier.sync 5, 64;" ::: "memory");
        out[t - 64] = s[t - 64] + s[t - 32];
    }
}
