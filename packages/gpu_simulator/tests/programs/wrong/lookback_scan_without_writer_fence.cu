// The flag is set without a fence behind the value, so the next block may add an old value.
// launch: --grid 2 --block 32 --arg i32:64:arange --arg i32:2 --arg i32:2 --arg i32:2
// hazard: race, "no fence between the access and that write"
__global__ void kernel(const int* in, volatile int* flag, int* prefix, int* out) {
    int sum = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x > 0) {
        while (flag[blockIdx.x - 1] == 0) {}
        __threadfence();
        sum += prefix[blockIdx.x - 1];  // here
    }
    prefix[blockIdx.x] = sum;  // here
    flag[blockIdx.x] = 1;
    out[blockIdx.x] = sum;
}
