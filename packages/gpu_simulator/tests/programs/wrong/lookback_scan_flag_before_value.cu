// The flag is set before the value that it announces.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:2 --arg i32:2
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(volatile int* flag, int* prefix, int* out) {
    int sum = blockIdx.x + 1;
    if (blockIdx.x > 0) {
        while (flag[blockIdx.x - 1] == 0) {}
        __threadfence();
        sum += prefix[blockIdx.x - 1];  // here
    }
    __threadfence();
    flag[blockIdx.x] = 1;
    prefix[blockIdx.x] = sum;  // here
    out[blockIdx.x] = sum;
}
