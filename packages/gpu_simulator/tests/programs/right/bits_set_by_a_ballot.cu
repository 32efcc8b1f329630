// A ballot gathers the bits of a warp, and one lane stores the word.
// launch: --grid 2 --block 64 --arg u32:4
// result: arg 0 = np.full(4, 0xaaaaaaaa)
__global__ void kernel(unsigned* bits) {
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned word = __ballot_sync(~0u, i % 2);
    if (threadIdx.x % 32 == 0) bits[i / 32] = word;
}
