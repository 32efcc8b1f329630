// elect.sync picks one lane of a converged warp, and only that lane stores.
// launch: --block 64 --arch sm_90 --arg i32:2
// result: arg 0 = [7, 7]
__global__ void kernel(int* out) {
    unsigned chosen;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
    if (chosen) out[threadIdx.x / 32] = 7;
    __syncwarp();
}
