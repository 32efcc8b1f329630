// Block 0 tells block 1, and block 1 tells block 2. What block 0 wrote reaches block 2, as causality is transitive.
// launch: --max-instructions 4000 --grid 3 --block 1 --arg i32:1 --arg i32:2 --arg i32:1
// result: arg 2 = [11]
__global__ void kernel(int* data, volatile int* flags, int* out) {
    if (blockIdx.x == 0) {
        *data = 11;
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flags[0] == 0) {}
        __threadfence();
        flags[1] = 1;
    } else {
        while (flags[1] == 0) {}
        __threadfence();
        *out = *data;
    }
}
