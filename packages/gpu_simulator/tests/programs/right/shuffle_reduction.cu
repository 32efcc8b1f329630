// The sum of a warp with __shfl_down_sync, which needs neither shared memory nor a barrier.
// launch: --grid 2 --block 32 --arg i32:64:arange --arg i32:2
// result: arg 1 = [496, 1520]
__global__ void kernel(const int* in, int* sum) {
    int value = in[blockIdx.x * 32 + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
    if (threadIdx.x == 0) sum[blockIdx.x] = value;
}
