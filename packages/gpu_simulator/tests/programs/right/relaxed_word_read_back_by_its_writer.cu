// A thread reads back what it has stored relaxed; program order is enough for that.
// launch: --grid 2 --block 32 --arg i32:64 --arg i32:64
// result: arg 1 = 5 * np.arange(64)
__global__ void kernel(volatile int* words, int* out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    words[i] = 4 * i;
    int back = words[i];
    out[i] = back + i;
}
