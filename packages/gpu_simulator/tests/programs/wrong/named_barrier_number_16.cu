// A block has the barriers 0 to 15.
// launch: --block 64 --arg i32:64 --arg 16
// fault: BarrierFault, "16"
__global__ void kernel(int* out, int number) {
    asm volatile("bar.sync %0, 64;" :: "r"(number) : "memory");  // here
    out[threadIdx.x] = threadIdx.x;
    __syncthreads();
}
