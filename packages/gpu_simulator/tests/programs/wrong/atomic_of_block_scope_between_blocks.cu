// atomicAdd_block is atomic for the threads of one block only, but all blocks share this counter.
// launch: --grid 2 --block 32 --arg i32:1
// hazard: race, "the scope of the device"
__global__ void kernel(int* count) {
    // Additions of the other block
    // may be lost.
    atomicAdd_block(count, 1);  // here
}
