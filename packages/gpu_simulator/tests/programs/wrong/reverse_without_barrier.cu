// The barrier between filling the tile and reading it is missing.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:128
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* out) {
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];  // here
    out[i] = tile[63 - threadIdx.x];  // here
}
