// __ldg reads the first half of an array, and the second half is written.
// launch: --grid 2 --block 32 --arg i32:128:arange
// result: arg 0 = np.concatenate([np.arange(64), np.arange(64)])
__global__ void kernel(int* data) {
    int i = blockIdx.x * 32 + threadIdx.x;
    int value = __ldg(&data[i]);
    data[64 + i] = value;
}
