// Scope .cta is wide enough between two warps of one block.
// launch: --block 64 --arg i32:1
// result: arg 0 = [3]
__global__ void kernel(int* out) {
    __shared__ int data, flag;
    unsigned at = __cvta_generic_to_shared(&flag);
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 3;
        asm volatile("st.release.cta.shared.s32 [%0], %1;" :: "r"(at), "r"(1) : "memory");
    } else if (threadIdx.x == 32) {
        int seen;
        do asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
        while (seen == 0);
        *out = data;
    }
}
