// One warpgroup asks for more registers, and no other gives any back.
// launch: --arch sm_90a --block 512 --arg i32:512
// hazard: error, "128 threads × 160 + 384 threads × 128 = 69,632"
__global__ void __launch_bounds__(512, 1) kernel(int* out) {
    if (threadIdx.x < 128) asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");  // here
    out[threadIdx.x] = threadIdx.x;
}
