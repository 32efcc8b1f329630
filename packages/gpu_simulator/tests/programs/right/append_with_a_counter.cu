// Every thread appends to a list; the counter gives each its own place.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:128 --arg i32:1
// result: arg 2 = [64]
__global__ void kernel(const int* in, int* list, int* count) {
    int value = in[blockIdx.x * 64 + threadIdx.x];
    if (value % 2 != 0) return;
    list[atomicAdd(count, 1)] = value;
}
