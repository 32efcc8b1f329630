// wait_group 2 leaves two groups on their way, one of which is the tile that is read next.
// launch: --block 64 --arg i32:1024:arange --arg i32:1024
// hazard: error, "waits for one group too few"
__device__ void copy16(void* to, const void* from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
}
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[2][64];
    int t = threadIdx.x;
    copy16(&tile[0][t], &in[t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int i = 0; i < 4; i++) {
        if (i < 3) copy16(&tile[(i + 1) % 2][t], &in[(i + 1) * 64 + t]);  // here
        asm volatile("cp.async.commit_group; cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        out[i * 64 + t] = tile[i % 2][63 - t];  // here
        __syncthreads();
    }
}
