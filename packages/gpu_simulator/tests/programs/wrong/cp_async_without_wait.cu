// Nothing waits for the copy, so the thread may read its slot before the data are there.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// hazard: error, "while a cp.async may still be writing it"
__device__ void copy16(void* to, const void* from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");  // here
}
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[64];
    int t = threadIdx.x;
    copy16(&tile[t], &in[t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    out[t] = tile[t];  // here
}
