// The tiles of two blocks overlap by eight elements, for which both compute the same values.
// launch: --grid 2 --block 64 --arg i32:120
// hazard: suspicious, "same value"
__global__ void kernel(int* out) {
    int i = blockIdx.x * 56 + threadIdx.x;
    int value = i * i;
    out[i] = value;  // here
}
