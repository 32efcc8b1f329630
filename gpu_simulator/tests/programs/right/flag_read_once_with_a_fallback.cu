// Block 1 looks at the flag once. If it is set, it takes the value; if not, it computes the same value itself.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [144]
__global__ void kernel(int* cache, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *cache = 12 * 12;
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
    } else {
        int seen;
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        *out = seen ? *cache : 12 * 12;
    }
}
