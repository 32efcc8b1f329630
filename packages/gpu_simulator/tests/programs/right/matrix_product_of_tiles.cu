// The tiled matrix product: a barrier after filling the tiles, and one before they are filled again.
// launch: --grid 2,2 --block 8,8 --arg i32:16x16:random --arg i32:16x16:random --arg i32:16x16
// result: arg 2 = args[0] @ args[1]
__global__ void kernel(const int* a, const int* b, int* c) {
    __shared__ int as[8][8], bs[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x, sum = 0;
    for (int k = 0; k < 16; k += 8) {
        as[y][x] = a[row * 16 + k + x];
        bs[y][x] = b[(k + y) * 16 + column];
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * 16 + column] = sum;
}
