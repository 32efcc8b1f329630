// The flag holds the number of the round; the reader waits until it is reached, and answers under a second flag.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:2 --arg i32:4
// result: arg 2 = 7 * np.arange(4)
__global__ void kernel(int* data, volatile int* flags, int* out) {
    for (int round = 1; round <= 4; round++) {
        if (blockIdx.x == 0) {
            *data = 7 * (round - 1);
            __threadfence();
            flags[0] = round;
            while (flags[1] < round) {}
            __threadfence();
        } else {
            while (flags[0] < round) {}
            __threadfence();
            out[round - 1] = *data;
            __threadfence();
            flags[1] = round;
        }
    }
}
