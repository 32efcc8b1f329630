// The producer never waits until the consumer has read the buffer.
// launch: --block 64 --arg i32:128
// hazard: race, "no barrier"
__global__ void kernel(int* out) {
    __shared__ int s[2][32];
    int lane = threadIdx.x % 32;
    for (int round = 0; round < 4; round++) {
        if (threadIdx.x < 32) {
            s[round % 2][lane] = round * 32 + lane;  // here
            asm volatile("bar.sync 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            out[round * 32 + lane] = s[round % 2][lane];  // here
        }
    }
}
