// The packed word is stored as two 32-bit halves and loaded as 64 bits: the accesses differ in size, so they race.
// launch: --grid 2 --block 1 --arg u64:2 --arg i32:2
// hazard: race, "different sizes"
__global__ void kernel(volatile unsigned long long* word, int* out) {
    unsigned sum = blockIdx.x + 1;
    if (blockIdx.x > 0) {
        unsigned long long seen;
        while (((seen = word[blockIdx.x - 1]) >> 32) == 0) {}  // here
        sum += (unsigned)seen;
    }
    volatile unsigned* halves = (volatile unsigned*)&word[blockIdx.x];
    halves[0] = sum;  // here
    halves[1] = 1;  // here
    out[blockIdx.x] = sum;
}
