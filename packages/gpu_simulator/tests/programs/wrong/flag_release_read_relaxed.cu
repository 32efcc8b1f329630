// The writer releases, but the reader loads the flag relaxed and has no fence behind it.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "no fence between that read and this access"
__global__ void kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 7;  // here
        asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
    } else {
        int seen;
        do asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        *out = *data;  // here
    }
}
