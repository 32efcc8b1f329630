// The producer gives back exactly what the two consumer warpgroups ask for: 2 × 240 + 24 = 3 × 168.
// launch: --arch sm_90a --block 384 --arg i32:384
// result: arg 0 = np.arange(384)
__global__ void __launch_bounds__(384, 1) kernel(int* out) {
    if (threadIdx.x / 128 == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    else asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    out[threadIdx.x] = threadIdx.x;
}
