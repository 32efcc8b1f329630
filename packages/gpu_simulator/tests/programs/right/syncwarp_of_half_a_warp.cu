// Each half of the warp exchanges values with itself and synchronises with the mask of its half.
// launch: --block 32 --arg i32:32
// result: arg 0 = np.arange(32).reshape(2, 16)[:, ::-1]
__global__ void kernel(int* out) {
    __shared__ int s[32];
    unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    s[threadIdx.x] = threadIdx.x;
    __syncwarp(mask);
    out[threadIdx.x] = s[threadIdx.x ^ 15];
}
