// The value itself travels in the word on which block 1 spins, so no other access has to be ordered.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// result: arg 1 = [77]
__global__ void kernel(volatile int* box, int* out) {
    if (blockIdx.x == 0) {
        *box = 77;
    } else {
        int value;
        while ((value = *box) == 0) {}
        *out = value;
    }
}
