// Every block stores the same constant into one place.
// launch: --grid 3 --block 32 --arg i32:1
// hazard: suspicious, "same value"
__global__ void kernel(int* out) {
    if (threadIdx.x == 0) {
        // One thread of each block comes here.
        *out = 7;  // here
    }
}
