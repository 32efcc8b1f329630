// The next ticket is called with a plain store, on which the others spin with volatile loads.
// launch: --grid 2 --block 1 --arg u32:1 --arg u32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(unsigned* next, unsigned* served, int* number) {
    unsigned mine = atomicAdd(next, 1);
    while (*(volatile unsigned*)served != mine) {}  // here
    __threadfence();
    *number += 1;
    __threadfence();
    *served = mine + 1;  // here
}
