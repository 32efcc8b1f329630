// atomicAdd_block is wide enough if each block has a counter of its own.
// launch: --grid 3 --block 64 --arg i32:3
// result: arg 0 = [64, 64, 64]
__global__ void kernel(int* counts) {
    int* mine = &counts[blockIdx.x];
    atomicAdd_block(mine, 1);
    // Nobody else touches this counter.
}
