// Block 1 acquires the flag once and reads the data whatever the flag says.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:2
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 7;  // here
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
    } else {
        int seen;
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        out[0] = seen;
        out[1] = *data;  // here
    }
}
