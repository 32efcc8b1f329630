// Peterson's lock without the fence between stores and loads: both blocks may read the old words, and both enter.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(volatile int* wants, volatile int* turn, int* number) {
    int me = blockIdx.x, other = 1 - me;
    wants[me] = 1;
    *turn = other;
    while (wants[other] == 1 && *turn == other) {}
    __threadfence();
    *number += 1;  // here
    __threadfence();
    wants[me] = 0;
}
