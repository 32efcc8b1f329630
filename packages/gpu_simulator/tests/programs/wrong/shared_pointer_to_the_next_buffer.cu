// The buffers are counted modulo 3, but there are two of them: round 2 uses what lies behind.
// launch: --block 64 --arg i32:192
// fault: MemoryFault, "shared"
__global__ void kernel(int* out) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x, *start = buffer[0];
    for (int round = 0; round < 3; round++) {
        start[round % 3 * 64 + t] = t;  // here
        __syncthreads();
        out[round * 64 + t] = start[round % 3 * 64 + 63 - t];
    }
}
