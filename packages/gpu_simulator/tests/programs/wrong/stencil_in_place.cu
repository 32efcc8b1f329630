// Each thread reads its neighbours and stores into the same array, so neighbours of other blocks may be old or new.
// launch: --grid 2 --block 64 --arg i32:130:arange
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data) {
    int i = blockIdx.x * 64 + threadIdx.x + 1;
    int sum = data[i - 1] + data[i + 1];  // here
    __syncthreads();
    data[i] = sum;  // here
}
