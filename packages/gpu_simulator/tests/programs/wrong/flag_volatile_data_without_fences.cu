// Data and flag are volatile, so nothing races; but without fences block 1 may see the flag and still the old data.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: suspicious, "nothing orders these two"
__global__ void kernel(volatile int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;  // here
        *flag = 1;
    } else {
        while (*flag == 0) {}
        *out = *data;  // here
    }
}
