// mma multiplies with all 32 lanes; here half of them are elsewhere.
// launch: --block 32 --arg f32:32
// hazard: error, "lane"
__global__ void kernel(float* out) {
    unsigned one = 0x3c003c00;
    float a = 0, b = 0, c = 0, d = 0;
    if (threadIdx.x % 2)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4},"
                     " {%0, %1, %2, %3};" : "+f"(a), "+f"(b), "+f"(c), "+f"(d) : "r"(one));  // here
    out[threadIdx.x] = a + b + c + d;
}
