// Block 0 adds at the scope of the GPU and block 1 at its own scope: the scopes have to include each other.
// launch: --grid 2 --block 32 --arg i32:1
// hazard: race, "the scope of the device"
__global__ void kernel(int* count) {
    if (blockIdx.x == 0)
        atomicAdd(count, 1);  // here
    else
        atomicAdd_block(count, 1);  // here
}
