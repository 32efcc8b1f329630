// The ticket acquires and does not release: nothing orders a block's own store before its ticket.
// launch: --grid 4 --block 1 --arg i32:4 --arg u32:1 --arg i32:1
// hazard: race, "no fence between the access and that write"
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    part[blockIdx.x] = blockIdx.x + 1;  // here
    unsigned ticket;
    asm volatile("atom.acquire.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(tickets) : "memory");
    if (ticket == gridDim.x - 1) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += part[b];  // here
        *sum = total;
    }
}
