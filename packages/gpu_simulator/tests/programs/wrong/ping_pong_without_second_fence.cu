// The turn is given away without a fence, so the other block may add to the old number.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// hazard: race, "no fence between the access and that write"
__global__ void kernel(int* number, volatile int* turn) {
    for (int round = 0; round < 4; round++) {
        while (*turn != 2 * round + blockIdx.x) {}
        __threadfence();
        *number += 1;  // here
        *turn = 2 * round + blockIdx.x + 1;
    }
}
