// Threads draw slots from a counter in shared memory and fill them; after a barrier all slots are read.
// launch: --block 64 --arg i32:64:arange --arg i32:1
// result: arg 1 = [992]
__global__ void kernel(const int* in, int* sum) {
    __shared__ int slots[64], used;
    if (threadIdx.x == 0) used = 0;
    __syncthreads();
    int value = in[threadIdx.x];
    if (value % 2 == 0) slots[atomicAdd(&used, 1)] = value;
    __syncthreads();
    if (threadIdx.x < used) atomicAdd(sum, slots[threadIdx.x]);
}
