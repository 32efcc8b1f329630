// The barrier counts 96 threads and only 64 ever come.
// launch: --block 64 --arg i32:64
// fault: Deadlock, "wait at barrier 1 for 96 threads"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 1, 96;" ::: "memory");  // here
    out[threadIdx.x] = s[63 - threadIdx.x];
}
