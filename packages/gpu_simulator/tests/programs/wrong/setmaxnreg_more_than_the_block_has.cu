// Two consumer warpgroups ask for 232 registers a thread, and the producer keeps 56: 520 for three threads that have 504.
// launch: --arch sm_90a --block 384 --arg i32:384
// hazard: error, "256 threads × 232 + 128 threads × 56 = 66,560, and this block has at most 384 threads × 168 = 64,512"
__global__ void __launch_bounds__(384, 1) kernel(int* out) {
    if (threadIdx.x / 128 == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
    else asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");  // here
    out[threadIdx.x] = threadIdx.x;
}
