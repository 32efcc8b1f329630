// Scope .sys contains the GPU: release and acquire work between two blocks as well.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [7]
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 7;
        asm volatile("st.release.sys.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
    } else {
        int seen;
        do asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        *out = *data;
    }
}
