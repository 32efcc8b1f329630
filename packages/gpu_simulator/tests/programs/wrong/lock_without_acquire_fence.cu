// Behind atomicCAS, which is relaxed, there is no fence: the old number may have been loaded before the lock was taken.
// launch: --grid 4 --block 1 --arg i32:1 --arg i32:1
// hazard: race, "no fence between that read and this access"
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *number += blockIdx.x + 1;  // here
    __threadfence();
    atomicExch(lock, 0);
}
