// Block 0 stores data, fences and sets a volatile flag; block 1 spins on the flag, fences and loads the data.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [42]
__global__ void kernel(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}
