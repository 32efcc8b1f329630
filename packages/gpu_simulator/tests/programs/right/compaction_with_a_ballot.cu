// A ballot counts the lanes to the left that keep their value.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// result: arg 1 = np.concatenate([np.arange(0, 32, 3), np.zeros(21)])
__global__ void kernel(const int* in, int* out) {
    int value = in[threadIdx.x];
    unsigned keep = __ballot_sync(0xffffffff, value % 3 == 0);
    if (value % 3 == 0) out[__popc(keep & ((1u << threadIdx.x) - 1))] = value;
}
