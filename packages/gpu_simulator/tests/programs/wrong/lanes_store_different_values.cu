// All lanes store their own number into one place; which one stays is undefined.
// launch: --block 32 --arg i32:1
// hazard: race, "same instruction"
__global__ void kernel(int* out) {
    // Every lane is told to store,
    // and there is one place only.
    *out = threadIdx.x;  // here
}
