// Lanes of two branches meet at two __syncwarp(): since Volta they are one barrier, if the masks agree.
// launch: --block 32 --arch sm_80 --arg i32:32
// result: arg 0 = 31 - np.arange(32)
__global__ void kernel(int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    if (lane < 16) {
        s[lane] = lane;
        __syncwarp();
    } else {
        s[lane] = 2 * lane - lane;
        __syncwarp();
    }
    out[lane] = s[31 - lane];
}
