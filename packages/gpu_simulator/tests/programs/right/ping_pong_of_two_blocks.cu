// Two blocks add to one number in turn; a volatile word says whose turn it is.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// result: arg 0 = [8]
__global__ void kernel(int* number, volatile int* turn) {
    for (int round = 0; round < 4; round++) {
        while (*turn != 2 * round + blockIdx.x) {}
        __threadfence();
        *number += 1;
        __threadfence();
        *turn = 2 * round + blockIdx.x + 1;
    }
}
