// Each block reads its tile and stores it where the tile of another block is still to be read.
// launch: --grid 2,2 --block 16,16 --arg i32:32x32:arange
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int value = data[y * 32 + x];  // here
    __syncthreads();
    data[x * 32 + y] = value;  // here
}
