// Block 1 adds to the flag with a relaxed atomic. Block 2 still acquires what block 0 released, through the addition.
// launch: --max-instructions 4000 --grid 3 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [8]
__global__ void kernel(int* data, int* flag, int* out) {
    int seen;
    if (blockIdx.x == 0) {
        *data = 8;
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
    } else if (blockIdx.x == 1) {
        do asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen != 1);
        atomicAdd(flag, 1);
    } else {
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen != 2);
        *out = *data;
    }
}
