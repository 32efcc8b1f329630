// A fast warp fills the tiles for the next step while a slow one still multiplies.
// launch: --grid 2,2 --block 8,8 --arg i32:16x16:random --arg i32:16x16:random --arg i32:16x16
// hazard: race, "no barrier"
__global__ void kernel(const int* a, const int* b, int* c) {
    __shared__ int as[8][8], bs[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x, sum = 0;
    for (int k = 0; k < 16; k += 8) {
        as[y][x] = a[row * 16 + k + x];  // here
        bs[y][x] = b[(k + y) * 16 + column];  // here
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += as[y][i] * bs[i][x];  // here
    }
    c[row * 16 + column] = sum;
}
