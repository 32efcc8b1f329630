// The counter is right, but nothing orders the parts before it or after it.
// launch: --grid 2 --block 64 --arg u32:1 --arg i32:128 --arg i32:128
// hazard: race, "__threadfence()"
__global__ void kernel(unsigned* arrived, int* part, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    part[i] = i;  // here
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < gridDim.x) {}
    }
    __syncthreads();
    out[i] = part[127 - i];  // here
}
