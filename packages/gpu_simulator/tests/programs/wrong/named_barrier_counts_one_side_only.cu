// The two storing warps make a phase of their own, because both sides name 64 threads and together they are 128.
// launch: --block 128 --arg i32:64
// hazard: error, "both have to name the threads of both, 128 if 64 threads wait"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = t;
        asm volatile("barrier.arrive 3, 64;" ::: "memory");  // here
    } else {
        asm volatile("barrier.sync 3, 64;" ::: "memory");  // here
        out[t - 64] = s[127 - t];
    }
}
