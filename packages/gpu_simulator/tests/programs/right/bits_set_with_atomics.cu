// Bits of one word are set by many threads, each with atomicOr.
// launch: --grid 2 --block 64 --arg u32:4
// result: arg 0 = np.full(4, 0x55555555)
__global__ void kernel(unsigned* bits) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i % 2 == 0)
        atomicOr(&bits[i / 32], 1u << i % 32);
}
