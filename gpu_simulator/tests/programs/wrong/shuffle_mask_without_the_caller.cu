// Lanes 16 to 31 shuffle with a mask that does not name them.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// fault: WarpFault, "mask"
__global__ void kernel(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (threadIdx.x >= 16) value = __shfl_sync(0x0000ffff, value, 3);  // here
    out[threadIdx.x] = value;
    __syncthreads();
}
