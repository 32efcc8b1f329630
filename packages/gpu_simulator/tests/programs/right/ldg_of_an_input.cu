// __ldg reads an array that nobody writes during the launch.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:128
// result: arg 1 = np.arange(128)[::-1]
__global__ void kernel(const int* __restrict__ in, int* __restrict__ out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int value = __ldg(&in[127 - i]);
    out[i] = value;
}
