// The fence stands behind the ticket, where it no longer orders the store before the ticket.
// launch: --grid 4 --block 1 --arg i32:4 --arg u32:1 --arg i32:1
// hazard: race, "no fence between the access and that write"
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    part[blockIdx.x] = blockIdx.x + 1;  // here
    unsigned ticket = atomicAdd(tickets, 1);
    __threadfence();
    if (ticket == gridDim.x - 1) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += part[b];  // here
        *sum = total;
    }
}
