// All threads count with atomicAdd and nobody reads the counter in this launch.
// launch: --grid 4 --block 64 --arg i32:256:arange --arg i32:1
// result: arg 1 = [86]
__global__ void kernel(const int* in, int* count) {
    int value = in[blockIdx.x * 64 + threadIdx.x];
    if (value % 3 == 0)
        atomicAdd(count, 1);
}
