// Each block transposes one tile into another array.
// launch: --grid 2,2 --block 16,16 --arg i32:32x32:arange --arg i32:32x32
// result: arg 1 = args[0].T
__global__ void kernel(const int* in, int* out) {
    __shared__ int tile[16][17];
    int x = threadIdx.x, y = threadIdx.y, bx = blockIdx.x * 16, by = blockIdx.y * 16;
    tile[y][x] = in[(by + y) * 32 + bx + x];
    __syncthreads();
    out[(bx + y) * 32 + by + x] = tile[x][y];
}
