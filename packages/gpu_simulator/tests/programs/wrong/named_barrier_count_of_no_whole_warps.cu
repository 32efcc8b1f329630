// The number of threads of a barrier has to be a multiple of the warp size.
// launch: --block 64 --arg i32:64 --arg 40
// fault: BarrierFault, "40"
__global__ void kernel(int* out, int count) {
    asm volatile("bar.sync 1, %0;" :: "r"(count) : "memory");  // here
    out[threadIdx.x] = threadIdx.x;
    __syncthreads();
}
