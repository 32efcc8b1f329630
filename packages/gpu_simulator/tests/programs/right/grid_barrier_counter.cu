// All blocks meet at a counter: barrier, fence, atomicAdd, spin, fence, barrier. Then each reads another block's part.
// launch: --grid 2 --block 64 --arg u32:1 --arg i32:128 --arg i32:128
// result: arg 2 = np.arange(128)[::-1]
__global__ void kernel(unsigned* arrived, int* part, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    part[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = part[127 - i];
}
