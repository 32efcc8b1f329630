// One warp reads through the read-only path what the other warp overwrites after a barrier.
// launch: --block 64 --arg i32:32:arange --arg i32:32
// hazard: error, "ld.global.nc"
__global__ void kernel(int* data, int* out) {
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) out[lane] = __ldg(&data[lane]);  // here
    __syncthreads();
    if (threadIdx.x >= 32) data[lane] = 0;  // here
}
