// The flag is checked with an acquire, then again under a lock; the first block initialises, the others read.
// launch: --grid 3 --block 1 --arg i32:1 --arg i32:1 --arg i32:1 --arg i32:3
// result: arg 3 = [5, 5, 5]
__device__ int acquire(int* at) {
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
__global__ void kernel(int* flag, int* lock, int* table, int* out) {
    if (acquire(flag) == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        if (acquire(flag) == 0) {
            *table = 5;
            asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory");
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x] = *table;
}
