// The barrier stands before the wait, where the copies of the other threads may still be on their way.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// hazard: race, "first the wait, then the barrier"
__device__ void copy16(void* to, const void* from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
}
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[64];
    int t = threadIdx.x;
    copy16(&tile[t], &in[t]);  // here
    __syncthreads();
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = tile[63 - t];  // here
}
