// Each thread reads its neighbours from one array and stores into another.
// launch: --grid 2 --block 64 --arg i32:130:arange --arg i32:128
// result: arg 1 = 2 * np.arange(1, 129)
__global__ void kernel(const int* in, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int left = in[i], right = in[i + 2];
    out[i] = left + right;
}
