// Block 0 sets the sum to zero without anything that makes the others wait for it.
// launch: --grid 2 --block 32 --arg f32:64:ones --arg f32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(const float* in, float* sum) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *sum = 0;  // here
    __syncthreads();
    atomicAdd(sum, in[blockIdx.x * 32 + threadIdx.x]);  // here
}
