// The acquire names scope .cta, but the writer is in another block.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "the scope of the device"
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 7;  // here
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");  // here
    } else {
        int seen;
        do asm volatile("ld.acquire.cta.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  // here
        while (seen == 0);
        *out = *data;  // here
    }
}
