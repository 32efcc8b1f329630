// red.release counts up without a result; the reader acquires.
// launch: --grid 3 --block 1 --arg i32:2 --arg i32:1 --arg i32:1
// result: arg 2 = [3]
__global__ void kernel(int* part, int* count, int* out) {
    if (blockIdx.x < 2) {
        part[blockIdx.x] = blockIdx.x + 1;
        asm volatile("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(count) : "memory");
    } else {
        int seen;
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
        while (seen < 2);
        *out = part[0] + part[1];
    }
}
