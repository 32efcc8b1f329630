// A block looks back over sums (state 1) until it meets a prefix (state 2). Timing decides which; the result is one.
// launch: --grid 2 --block 1 --arg u64:2 --arg i32:2
// result: arg 1 = [1, 3]
__global__ void kernel(volatile unsigned long long* word, int* out) {
    int b = blockIdx.x, value = b + 1, sum = value;
    word[b] = (b == 0 ? 2ull : 1ull) << 32 | value;
    for (int from = b - 1; from >= 0; from--) {
        unsigned long long seen;
        while (((seen = word[from]) >> 32) == 0) {}
        sum += (unsigned)seen;
        if (seen >> 32 == 2) break;
    }
    if (b > 0) word[b] = 2ull << 32 | sum;
    out[b] = sum;
}
