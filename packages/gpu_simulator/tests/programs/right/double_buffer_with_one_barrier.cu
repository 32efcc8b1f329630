// Two buffers need one barrier a round: while one is read, the other is filled.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// result: arg 1 = args[0].reshape(4, 64)[:, ::-1]
__global__ void kernel(const int* in, int* out) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        buffer[round % 2][t] = in[round * 64 + t];
        __syncthreads();
        out[round * 64 + t] = buffer[round % 2][63 - t];
    }
}
