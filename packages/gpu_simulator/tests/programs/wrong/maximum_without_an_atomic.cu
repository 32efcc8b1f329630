// Every thread compares with the maximum and replaces it, without an atomic.
// launch: --grid 2 --block 32 --arg i32:64:arange --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(const int* in, int* maximum) {
    int value = in[blockIdx.x * 32 + threadIdx.x];
    if (value > *maximum)  // here
        *maximum = value;  // here
}
