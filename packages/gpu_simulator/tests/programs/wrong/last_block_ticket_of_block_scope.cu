// atomicAdd_block is atomic for one block only, so two blocks may draw the same ticket and no block the last.
// launch: --grid 4 --block 1 --arg i32:4 --arg u32:1 --arg i32:1
// hazard: race, "the scope of the device"
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    part[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    if (atomicAdd_block(tickets, 1) == gridDim.x - 1) {  // here
        __threadfence();
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += part[b];
        *sum = total;
    }
}
