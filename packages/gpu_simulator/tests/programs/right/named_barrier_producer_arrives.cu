// The producer warp arrives at “full” and goes on; the consumer warp waits there. “empty” works the other way round.
// launch: --block 64 --arg i32:128
// result: arg 0 = np.arange(128)
__global__ void kernel(int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x % 32;
    for (int round = 0; round < 4; round++) {
        if (threadIdx.x < 32) {
            if (round > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
            s[31 - lane] = round * 32 + 31 - lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[round * 32 + lane] = s[lane];
            if (round < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
