// The lanes name two masks that overlap, so neither group is complete.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// fault: WarpFault, "same mask"
__global__ void kernel(const int* in, int* out) {
    unsigned mask = threadIdx.x < 16 ? 0x0001ffff : 0xffff0000;
    out[threadIdx.x] = __reduce_add_sync(mask, in[threadIdx.x]);  // here
    __syncwarp();
    out[threadIdx.x] += 1;
}
