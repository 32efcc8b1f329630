// wait_group counts committed groups, and this copy was never committed: the wait does not cover it.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// hazard: error, "no cp.async.commit_group follows it, so no wait covers it"
__device__ void copy16(void* to, const void* from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
}
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[64];
    int t = threadIdx.x;
    copy16(&tile[t], &in[t]);  // here
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[t] = tile[63 - t];  // here
}
