// Thread i swaps elements i and n - 1 - i, and no other thread touches them.
// launch: --grid 2 --block 32 --arg i32:128:arange
// result: arg 0 = np.arange(128)[::-1]
__global__ void kernel(int* data) {
    int i = blockIdx.x * 32 + threadIdx.x, j = 127 - i;
    int low = data[i], high = data[j];
    data[i] = high;
    data[j] = low;
}
