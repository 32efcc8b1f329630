// Lanes beyond the end have returned, and the others still shuffle with all 32 lanes.
// launch: --block 32 --arg i32:20:arange --arg i32:1 --arg 20
// hazard: error, "lane"
__global__ void kernel(const int* in, int* sum, int n) {
    if (threadIdx.x >= n) return;
    int value = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);  // here
    if (threadIdx.x == 0) *sum = value;
}
