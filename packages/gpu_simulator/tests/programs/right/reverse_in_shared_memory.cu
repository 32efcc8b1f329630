// A block reverses its part of an array through shared memory.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:128
// result: arg 1 = args[0].reshape(2, 64)[:, ::-1]
__global__ void kernel(const int* in, int* out) {
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[63 - threadIdx.x];
}
