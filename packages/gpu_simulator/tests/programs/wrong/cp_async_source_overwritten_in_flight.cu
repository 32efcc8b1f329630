// The thread overwrites the source while the copy may still have to read it.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// hazard: error, "cp.async"
__device__ void copy16(void* to, const void* from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
}
__global__ void kernel(int4* in, int4* out) {
    __shared__ int4 tile[64];
    int t = threadIdx.x;
    copy16(&tile[t], &in[t]);  // here
    in[t] = make_int4(0, 0, 0, 0);  // here
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = tile[t];
}
