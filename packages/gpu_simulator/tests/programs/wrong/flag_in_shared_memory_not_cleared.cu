// Nobody clears the flag in shared memory, so warp 1 may see a flag that was never set.
// launch: --block 64 --arg i32:1
// hazard: error, "nothing has written"
__global__ void kernel(int* out) {
    __shared__ int data;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) {
        data = 3;
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag != 1) {}  // here
        __threadfence_block();
        *out = data;
    }
}
