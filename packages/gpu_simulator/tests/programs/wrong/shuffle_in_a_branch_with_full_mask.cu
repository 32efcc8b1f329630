// The mask names all lanes, but only half of them get to the shuffle; the others go another way.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// fault: Deadlock, "needs every lane that it names"
__global__ void kernel(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) value += __shfl_xor_sync(0xffffffff, value, 1);  // here
    __syncwarp();
    out[threadIdx.x] = value;
}
