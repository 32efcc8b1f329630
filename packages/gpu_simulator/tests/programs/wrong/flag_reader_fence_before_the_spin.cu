// The reader's fence stands before the spin instead of behind it.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "no fence between that read and this access"
__global__ void kernel(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;  // here
        __threadfence();
        *flag = 1;
    } else {
        __threadfence();
        while (*flag == 0) {}
        *out = *data;  // here
    }
}
