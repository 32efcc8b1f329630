// A volatile array that nobody writes.
// launch: --grid 2 --block 32 --arg i32:64:arange --arg i32:64
// result: arg 1 = np.arange(64)[::-1]
__global__ void kernel(const volatile int* in, int* out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    int value = in[63 - i];
    out[i] = value;
}
