// Block 0 stores the low half of each word, block 1 the high half.
// launch: --grid 2 --block 32 --arg u16:64
// result: arg 0 = np.tile([0, 1], 32)
__global__ void kernel(unsigned short* out) {
    int word = threadIdx.x;
    out[2 * word + blockIdx.x] = blockIdx.x;
    // No thread touches the other half,
    // so the two blocks need no order.
}
