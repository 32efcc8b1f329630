// All lanes shuffle, but the mask does not name lanes 16 to 31.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// fault: WarpFault, "mask"
__global__ void kernel(const int* in, int* out) {
    int value = in[threadIdx.x];
    int other = __shfl_sync(0x0000ffff, value, 3);  // here
    out[threadIdx.x] = other;
}
