// Threads of one block exchange values through global memory with a barrier in between.
// launch: --grid 2 --block 64 --arg i32:128 --arg i32:128
// result: arg 1 = np.arange(128).reshape(2, 64)[:, ::-1]
__global__ void kernel(int* buffer, int* out) {
    int base = blockIdx.x * 64, t = threadIdx.x;
    buffer[base + t] = base + t;
    __syncthreads();
    out[base + t] = buffer[base + 63 - t];
}
