// Both extern arrays begin at the same address, so each store into one destroys the other.
// launch: --block 64 --smem 512 --arg i32:64
// hazard: race, "no barrier"
extern __shared__ int first[];
extern __shared__ int second[];
__global__ void kernel(int* out) {
    first[threadIdx.x] = threadIdx.x;  // here
    second[63 - threadIdx.x] = 2;  // here
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}
