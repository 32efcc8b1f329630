// The barrier counts 32 threads although 64 take part: each warp passes alone.
// launch: --block 64 --arg i32:64
// hazard: race, "no barrier"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;  // here
    asm volatile("bar.sync 1, 32;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];  // here
}
