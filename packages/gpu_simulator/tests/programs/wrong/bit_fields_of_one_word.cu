// Two warps change two bit fields that share a byte: each stores the whole byte, and with it the other's old bits.
// launch: --block 64 --arg u32:1
// hazard: race, "no barrier"
struct Fields { unsigned low : 4, high : 4; };
__global__ void kernel(Fields* fields) {
    if (threadIdx.x == 0) fields->low = 3;  // here
    if (threadIdx.x == 32) fields->high = 5;  // here
}
