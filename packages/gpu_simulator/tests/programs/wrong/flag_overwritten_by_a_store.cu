// Block 1 stores 2 over the released 1. A plain overwrite, unlike an atomic, ends the chain from block 0 to block 2.
// launch: --max-instructions 4000 --grid 3 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, int* flag, int* out) {
    int seen;
    if (blockIdx.x == 0) {
        *data = 8;  // here
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
    } else if (blockIdx.x == 1) {
        do asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen != 1);
        asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(2) : "memory");
    } else {
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen != 2);
        *out = *data;  // here
    }
}
