// One thread for each block does everything: store, fence, ticket, fence, loads.
// launch: --grid 6 --block 1 --arg i32:6 --arg u32:1 --arg i32:1
// result: arg 2 = [91]
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    part[blockIdx.x] = (blockIdx.x + 1) * (blockIdx.x + 1);
    __threadfence();
    if (atomicAdd(tickets, 1) == gridDim.x - 1) {
        __threadfence();
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += part[b];
        *sum = total;
    }
}
