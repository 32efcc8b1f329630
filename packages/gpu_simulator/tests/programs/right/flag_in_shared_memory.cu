// Warp 0 hands a value to warp 1 through shared memory, with a volatile flag and a fence of block scope on both sides.
// launch: --block 64 --arg i32:32
// result: arg 0 = 2 * np.arange(32)
__global__ void kernel(int* out) {
    __shared__ int data[32];
    __shared__ volatile int flag;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[lane] = 2 * lane;
        __syncwarp();
        __threadfence_block();
        if (lane == 0) flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence_block();
        out[lane] = data[lane];
    }
}
