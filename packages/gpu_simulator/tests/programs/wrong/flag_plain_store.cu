// The flag is set by a plain store and read by volatile loads: a race on the flag itself.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;  // here
    } else {
        while (*(volatile int*)flag == 0) {}  // here
        __threadfence();
        *out = *data;
    }
}
