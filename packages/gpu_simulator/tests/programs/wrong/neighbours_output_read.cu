// Each block adds the last value of the block before it, for which it does not wait.
// launch: --grid 3 --block 32 --arg i32:96
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = threadIdx.x;  // here
    __syncthreads();
    if (blockIdx.x > 0) out[i] += out[blockIdx.x * 32 - 1];  // here
}
