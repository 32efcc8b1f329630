// Warps of one block take a lock in shared memory; fences of block scope are wide enough.
// launch: --block 128 --arg i32:1
// result: arg 0 = [10]
__global__ void kernel(int* out) {
    __shared__ int lock, number;
    if (threadIdx.x == 0) lock = number = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence_block();
        number += threadIdx.x / 32 + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = number;
}
