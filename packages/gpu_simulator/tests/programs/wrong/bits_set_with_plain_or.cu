// Bits of one word are set by reading, changing and storing the whole word, so neighbours lose theirs.
// launch: --block 32 --arg u32:1
// hazard: race, "same instruction"
__global__ void kernel(unsigned* bits) {
    unsigned mine = 1u << threadIdx.x;
    unsigned old = *bits;
    *bits = old | mine;  // here
}
