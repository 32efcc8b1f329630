// The flag is set first, so block 1 may read the data before it is there.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *flag = 1;
        __threadfence();
        *data = 42;  // here
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;  // here
    }
}
