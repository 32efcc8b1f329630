// Each thread waits for its own copy, and a barrier shares the copies of all threads.
// launch: --block 64 --arg i32:256:arange --arg i32:256
// result: arg 1 = args[0].reshape(64, 4)[::-1]
__device__ void copy16(void* to, const void* from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
}
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[64];
    int t = threadIdx.x;
    copy16(&tile[t], &in[t]);
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[t] = tile[63 - t];
}
