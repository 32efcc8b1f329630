// Block 1 looks at the flag once. If it is set, it takes the value; if not, it computes the same value itself. Both ways
// are meant, and it depends on timing which one is taken: suspicious, no more.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: suspicious, "depends on timing"
__global__ void kernel(int* cache, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *cache = 12 * 12;
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");  // here
    } else {
        int seen;
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  // here
        *out = seen ? *cache : 12 * 12;
    }
}
