// The block in the middle fences with __threadfence_block(), which neither of its neighbours is covered by.
// launch: --max-instructions 4000 --grid 3 --block 1 --arg i32:1 --arg i32:2 --arg i32:1
// hazard: race, "fence"
__global__ void kernel(int* data, volatile int* flags, int* out) {
    if (blockIdx.x == 0) {
        *data = 11;  // here
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flags[0] == 0) {}
        __threadfence_block();
        flags[1] = 1;
    } else {
        while (flags[1] == 0) {}
        __threadfence();
        *out = *data;  // here
    }
}
