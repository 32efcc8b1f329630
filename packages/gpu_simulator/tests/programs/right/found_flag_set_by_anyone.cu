// Any thread may set the flag, all with the value 1 and with a relaxed store, which is no race.
// launch: --grid 2 --block 64 --arg i32:128:arange --arg i32:1
// result: arg 1 = [1]
__global__ void kernel(const int* in, int* found) {
    int value = in[blockIdx.x * 64 + threadIdx.x];
    if (value % 10 == 3)
        asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" :: "l"(found) : "memory");
}
