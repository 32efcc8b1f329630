// Each thread takes every 128th element.
// launch: --grid 2 --block 64 --arg i32:500:arange --arg 500
// result: arg 0 = 3 * np.arange(500)
__global__ void kernel(int* data, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        data[i] = 3 * data[i];
}
