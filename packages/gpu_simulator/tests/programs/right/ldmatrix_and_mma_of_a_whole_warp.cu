// All lanes of the warp load and multiply: the product of two matrices of ones of depth 16.
// launch: --block 32 --arg f32:16x8
// result: arg 0 = np.full(128, 16)
__global__ void kernel(float* out) {
    __shared__ __align__(16) unsigned tile[128];
    for (int i = threadIdx.x; i < 128; i += 32) tile[i] = 0x3c003c00;
    __syncwarp();
    unsigned a0, a1, a2, a3, at = __cvta_generic_to_shared(&tile[threadIdx.x * 4]), one = 0x3c003c00;
    float c[4] = {};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(at) : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %8},"
                 " {%0, %1, %2, %3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(one));
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = c[i];
}
