// Without wgmma.fence the zeros in the accumulators need not be there when the product begins.
// launch: --block 128 --arch sm_90a --arg f32:128
// hazard: error, "wgmma.fence"
__global__ void __launch_bounds__(128) kernel(float* out) {
    __shared__ __align__(128) unsigned a[512], b[64];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 128) a[i] = 0x3f803f80;
    if (t < 64) b[t] = 0x3f803f80;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long layout = 8ull << 16 | 16ull << 32;
    unsigned long long at = layout | __cvta_generic_to_shared(a) >> 4, bt = layout | __cvta_generic_to_shared(b) >> 4;
    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "l"(at), "l"(bt));  // here
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) :: "memory");
    out[t] = c0 + c1 + c2 + c3;
}
