// __syncwarp() stands where a barrier of the block is needed.
// launch: --block 64 --arg i32:64
// hazard: race, "no barrier"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;  // here
    __syncwarp();
    out[threadIdx.x] = s[63 - threadIdx.x];  // here
}
