// 32-bit atomics fill the halves of a word, and after a barrier a 64-bit atomic changes the whole word.
// launch: --block 64 --arg u64:1
// result: arg 0 = [(32 << 32) + 32 + 1]
__global__ void kernel(unsigned long long* word) {
    unsigned* halves = reinterpret_cast<unsigned*>(word);
    atomicAdd(&halves[threadIdx.x % 2], 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(word, 1ull);
}
