// A ticket lock: atomicAdd draws a ticket, and a volatile word says which ticket is served.
// launch: --grid 2 --block 1 --arg u32:1 --arg u32:1 --arg i32:1
// result: arg 2 = [6]
__global__ void kernel(unsigned* next, volatile unsigned* served, int* number) {
    for (int round = 0; round < 3; round++) {
        unsigned mine = atomicAdd(next, 1);
        while (*served != mine) {}
        __threadfence();
        *number += 1;
        __threadfence();
        *served = mine + 1;
    }
}
