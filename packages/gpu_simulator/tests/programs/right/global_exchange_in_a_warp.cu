// Lanes of one warp exchange values through global memory with __syncwarp(), which orders global memory, too.
// launch: --block 64 --arg i32:64 --arg i32:64
// result: arg 1 = np.arange(64).reshape(2, 32)[:, ::-1]
__global__ void kernel(int* buffer, int* out) {
    int t = threadIdx.x;
    buffer[t] = t;
    __syncwarp();
    out[t] = buffer[t ^ 31];
}
