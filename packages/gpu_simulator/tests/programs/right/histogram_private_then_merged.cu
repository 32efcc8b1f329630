// Each warp counts in bins of its own; the block merges them and adds them to those of the grid.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:8
// result: arg 1 = np.full(8, 16)
__global__ void kernel(const int* in, int* bins) {
    __shared__ int mine[2][8];
    int t = threadIdx.x;
    if (t < 16) mine[t / 8][t % 8] = 0;
    __syncthreads();
    atomicAdd(&mine[t / 32][in[blockIdx.x * 64 + t] % 8], 1);
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], mine[0][t] + mine[1][t]);
}
