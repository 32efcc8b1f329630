// Peterson's lock. The fence between a block's own stores and its loads of the other's keeps both from entering.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:1 --arg i32:1
// result: arg 2 = [2]
__global__ void kernel(volatile int* wants, volatile int* turn, int* number) {
    int me = blockIdx.x, other = 1 - me;
    wants[me] = 1;
    __threadfence();
    *turn = other;
    __threadfence();
    while (wants[other] == 1 && *turn == other) {}
    __threadfence();
    *number += 1;
    __threadfence();
    wants[me] = 0;
}
