// elect.sync names all lanes, but half of the warp does not get there.
// launch: --block 32 --arch sm_90 --arg i32:1
// fault: Deadlock, "needs every lane that it names"
__global__ void kernel(int* out) {
    unsigned chosen = 0;
    if (threadIdx.x < 16)
        asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));  // here
    if (chosen) *out = 7;
    __syncwarp();
}
