// The producer never waits for the consumer, so it may overwrite the buffer, and its arrivals of two rounds may mix.
// launch: --block 64 --arg i32:128
// hazard: error, "nothing tells it that the last phase of this barrier is over"
__global__ void kernel(int* out) {
    __shared__ int s[2][32];
    int lane = threadIdx.x % 32;
    for (int round = 0; round < 4; round++) {
        if (threadIdx.x < 32) {
            s[round % 2][lane] = round * 32 + lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");  // here
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[round * 32 + lane] = s[round % 2][lane];
        }
    }
}
