// State and value share one 64-bit word that is stored and loaded in one piece, so no fence is needed.
// launch: --grid 2 --block 1 --arg u64:2 --arg i32:2
// result: arg 1 = [1, 3]
__global__ void kernel(volatile unsigned long long* word, int* out) {
    unsigned long long sum = blockIdx.x + 1;
    if (blockIdx.x > 0) {
        unsigned long long seen;
        while (((seen = word[blockIdx.x - 1]) >> 32) == 0) {}
        sum += (unsigned)seen;
    }
    word[blockIdx.x] = 1ull << 32 | sum;
    out[blockIdx.x] = (int)sum;
}
