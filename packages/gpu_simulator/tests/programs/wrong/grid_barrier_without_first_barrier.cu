// Thread 0 announces its block before the other warp has stored its part.
// launch: --grid 2 --block 64 --arg u32:1 --arg i32:128 --arg i32:128
// hazard: race, "have to meet at __syncthreads()"
__global__ void kernel(unsigned* arrived, int* part, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    part[i] = i;  // here
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = part[127 - i];  // here
}
