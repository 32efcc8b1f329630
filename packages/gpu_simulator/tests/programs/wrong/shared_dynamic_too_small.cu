// The launch gives 128 bytes, and the kernel uses 256.
// launch: --block 64 --smem 128 --arg i32:64
// fault: MemoryFault, "shared"
extern __shared__ int s[];
__global__ void kernel(int* out) {
    s[threadIdx.x] = threadIdx.x;  // here
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
