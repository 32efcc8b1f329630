// The left and right neighbours of the tile are read, but nobody has loaded them.
// launch: --grid 2 --block 64 --arg i32:130:arange --arg i32:128
// hazard: error, "nothing has written"
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 1] = in[i + 1];
    __syncthreads();
    out[i] = s[t] + s[t + 1] + s[t + 2];  // here
}
