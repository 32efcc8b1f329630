// Lanes exchange values through shared memory, with __syncwarp() between the store and the load.
// launch: --block 64 --arg i32:64
// result: arg 0 = np.arange(64).reshape(2, 32)[:, ::-1]
__global__ void kernel(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 31];
}
