// Any thread may set the flag with a plain store; all store 1.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:1
// hazard: suspicious, "same value"
__global__ void kernel(const int* in, int* found) {
    int value = in[blockIdx.x * 64 + threadIdx.x];
    if (value % 10 == 3)
        *found = 1;  // here
}
