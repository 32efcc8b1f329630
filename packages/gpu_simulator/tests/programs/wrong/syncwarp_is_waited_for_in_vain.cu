// Lanes 0 to 15 wait for the whole warp, and the others spin until lane 0 has gone on.
// launch: --max-instructions 4000 --block 32 --arg i32:32
// fault: BudgetExceeded, "spins"
__global__ void kernel(int* out) {
    volatile int* word = out;
    if (threadIdx.x < 16) {
        __syncwarp(0xffffffff);
        word[0] = 1;
    } else {
        while (word[0] == 0) {}  // here
        __syncwarp(0xffffffff);
    }
}
