// Block 1 spins on a plain variable. The compiler loads it once, before the loop, which then never ends.
// launch: --max-instructions 4000 --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// fault: BudgetExceeded, "nothing orders the two blocks"
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;  // here
        __threadfence();
        *flag = 1;  // here
    } else {
        while (*flag == 0) {}  // here
        __threadfence();
        *out = *data;  // here
    }
}
