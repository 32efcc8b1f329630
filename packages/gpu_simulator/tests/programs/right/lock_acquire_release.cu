// The lock is taken with atom.acquire and given back with st.release at GPU scope.
// launch: --grid 3 --block 1 --arg i32:1 --arg i32:1
// result: arg 1 = [3]
__global__ void kernel(int* lock, int* number) {
    int old;
    do asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(lock) : "memory");
    while (old != 0);
    *number += 1;
    asm volatile("st.release.gpu.global.s32 [%0], 0;" :: "l"(lock) : "memory");
}
