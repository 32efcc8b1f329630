// Each block waits for the sum of the block before it, adds its own and publishes: value, fence, flag.
// launch: --grid 2 --block 32 --arg i32:64:arange --arg i32:2 --arg i32:2 --arg i32:2
// result: arg 3 = [496, 2016]
__global__ void kernel(const int* in, volatile int* flag, int* prefix, int* out) {
    int sum = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x > 0) {
        while (flag[blockIdx.x - 1] == 0) {}
        __threadfence();
        sum += prefix[blockIdx.x - 1];
    }
    prefix[blockIdx.x] = sum;
    __threadfence();
    flag[blockIdx.x] = 1;
    out[blockIdx.x] = sum;
}
