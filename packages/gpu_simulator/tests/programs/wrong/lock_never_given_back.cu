// A block returns early and keeps the lock, so the other one waits for ever.
// launch: --max-instructions 4000 --grid 2 --block 1 --arg i32:1 --arg i32:2
// fault: BudgetExceeded, "spins"
__global__ void kernel(int* lock, int* numbers) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // here
    __threadfence();
    numbers[blockIdx.x] += 1;
    if (numbers[blockIdx.x] == 1) return;
    __threadfence();
    atomicExch(lock, 0);
}
