// The producer arrives at “full” before it has stored, so the consumer may read the buffer too early.
// launch: --block 64 --arg i32:32
// hazard: race, "no barrier"
__global__ void kernel(int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) s[lane] = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        s[lane] = lane;  // here
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane] = s[lane];  // here
    }
}
