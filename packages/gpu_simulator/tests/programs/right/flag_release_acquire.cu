// st.release and ld.acquire at the scope of the GPU need no fence.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [7]
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 7;
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
    } else {
        int seen;
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        *out = *data;
    }
}
