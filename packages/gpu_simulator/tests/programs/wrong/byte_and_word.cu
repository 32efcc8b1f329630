// One warp stores a byte, the other the word around it.
// launch: --block 64 --arg u32:32
// hazard: race, "no barrier"
__global__ void kernel(unsigned* out) {
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) out[lane] = 0x01020304;  // here
    else reinterpret_cast<unsigned char*>(&out[lane])[2] = 9;  // here
}
