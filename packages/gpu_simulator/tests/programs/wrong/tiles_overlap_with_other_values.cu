// The tiles of two blocks overlap by one element, and each block stores another value there.
// launch: --grid 2 --block 64 --arg i32:127
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* out) {
    int i = blockIdx.x * 63 + threadIdx.x;
    int value = threadIdx.x;
    out[i] = value;  // here
}
