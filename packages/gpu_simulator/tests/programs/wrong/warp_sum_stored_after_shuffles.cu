// Lanes read a row and add it up with shuffles, then each stores the sum at the place that lane 0 has read.
// launch: --block 64 --arg i32:64
// hazard: suspicious, "promise no order of memory, as __syncwarp() does"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[threadIdx.x] = lane;
    __syncwarp();
    int sum = s[threadIdx.x];  // here
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    s[32 * warp] = sum;  // here
    __syncwarp();
    out[threadIdx.x] = s[32 * warp];
}
