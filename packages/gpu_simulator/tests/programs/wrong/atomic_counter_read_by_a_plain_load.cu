// Thread 0 of each block reads the counter with a plain load while other blocks still add to it.
// launch: --grid 2 --block 32 --arg i32:1 --arg i32:2
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* count, int* out) {
    atomicAdd(count, 1);  // here
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = *count;  // here
}
