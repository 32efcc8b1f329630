// Warp 1 sees the volatile flag in shared memory, but nothing orders the data before it.
// launch: --block 64 --arg i32:32
// hazard: race, "no fence between the access and that write"
__global__ void kernel(int* out) {
    __shared__ int data[32];
    __shared__ volatile int flag;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[lane] = 2 * lane;  // here
        __syncwarp();
        if (lane == 0) flag = 1;
    } else {
        while (flag == 0) {}
        out[lane] = data[lane];  // here
    }
}
