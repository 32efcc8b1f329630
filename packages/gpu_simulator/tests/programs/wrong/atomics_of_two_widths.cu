// One block adds to a 64-bit word, the other to its low half: atomics of two sizes are not atomic to each other.
// launch: --grid 2 --block 1 --arg u64:1
// hazard: race, "different sizes"
__global__ void kernel(unsigned long long* word) {
    if (blockIdx.x == 0)
        atomicAdd(word, 1ull);  // here
    else
        atomicAdd(reinterpret_cast<unsigned*>(word), 1u);  // here
}
