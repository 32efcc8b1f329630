// atomicMax for everybody, with the value returned not used.
// launch: --grid 4 --block 64 --arg i32:256:arange --arg i32:1
// result: arg 1 = [255]
__global__ void kernel(const int* in, int* maximum) {
    int value = in[blockIdx.x * 64 + threadIdx.x];
    value = __reduce_max_sync(0xffffffff, value);
    if (threadIdx.x % 32 == 0) atomicMax(maximum, value);
}
