// The block that loses the claim reads the table at once, without waiting for the winner.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:2
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* claimed, int* table, int* out) {
    if (atomicCAS(claimed, 0, 1) == 0) {
        *table = 5;  // here
        __threadfence();
    }
    out[blockIdx.x] = *table;  // here
}
