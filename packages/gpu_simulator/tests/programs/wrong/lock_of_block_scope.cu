// atomicCAS_block and atomicExch_block are atomic within a block only, so two blocks may hold this lock at once.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// hazard: race, "the scope of the device"
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS_block(lock, 0, 1) != 0) {}  // here
    __threadfence();
    *number += 1;  // here
    __threadfence();
    atomicExch_block(lock, 0);  // here
}
