// One buffer needs a second barrier: a fast warp fills it again while a slow one still reads.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* out) {
    __shared__ int buffer[64];
    int t = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        buffer[t] = in[round * 64 + t];  // here
        __syncthreads();
        out[round * 64 + t] = buffer[63 - t];  // here
    }
}
