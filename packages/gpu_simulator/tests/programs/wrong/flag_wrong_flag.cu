// Block 0 announces its second value under flag 1, and block 1 waits for flag 0 before it reads that value.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:2 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, volatile int* flags, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 1;
        __threadfence();
        flags[0] = 1;
        data[1] = 2;  // here
        __threadfence();
        flags[1] = 1;
    } else {
        while (flags[0] == 0) {}
        __threadfence();
        *out = data[1];  // here
    }
}
