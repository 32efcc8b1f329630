// The double buffer has a barrier only in every second round.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* out) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        buffer[round % 2][t] = in[round * 64 + t];  // here
        if (round % 2 == 0) __syncthreads();
        out[round * 64 + t] = buffer[round % 2][63 - t];  // here
    }
}
