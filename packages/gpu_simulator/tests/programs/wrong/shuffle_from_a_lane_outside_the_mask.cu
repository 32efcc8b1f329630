// Lanes 0 to 15 read from lane 20, which takes no part in the shuffle: the value is undefined.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// hazard: error, "lane 20"
__global__ void kernel(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) value = __shfl_sync(0x0000ffff, value, 20);  // here
    out[threadIdx.x] = value;
}
