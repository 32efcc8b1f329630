// __threadfence_block() orders for threads of the same block only, and the reader is in another one.
// launch: --grid 4 --block 1 --arg i32:4 --arg u32:1 --arg i32:1
// hazard: race, "no fence between the access and that write"
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    part[blockIdx.x] = blockIdx.x + 1;  // here
    __threadfence_block();
    if (atomicAdd(tickets, 1) == gridDim.x - 1) {
        __threadfence();
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += part[b];  // here
        *sum = total;
    }
}
