// Transposes an array of n × n numbers, 32 × 32 of them at a time. It is slow on purpose.
#define TILE 32

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[TILE][TILE];  // write + 1 after this TILE, and press Run
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * TILE, column = blockIdx.x * TILE;

  for (int i = y; i < TILE; i += 8)
    tile[i][x] = in[(row + i) * n + column + x];
  __syncthreads();
  for (int i = y; i < TILE; i += 8)
    out[(column + i) * n + row + x] = tile[x][i];
}
