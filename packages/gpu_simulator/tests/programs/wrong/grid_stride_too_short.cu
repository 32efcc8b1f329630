// The stride of the loop is that of one block, so both blocks treat most elements.
// launch: --grid 2 --block 64 --arg i32:256:arange --arg 256
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += blockDim.x)
        data[i] = 3 * data[i];  // here
}
