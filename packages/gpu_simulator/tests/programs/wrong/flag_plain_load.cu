// Block 1 reads the flag with plain loads around a fence, which keeps the loop alive; it still races.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);  // here
    } else {
        while (*flag == 0) __threadfence();  // here
        *out = *data;
    }
}
