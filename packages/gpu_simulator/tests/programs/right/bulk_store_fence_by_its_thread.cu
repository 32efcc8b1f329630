// The thread that asks for the copy has the proxy fence, behind the barrier. PTX wants a fence on the way from the
// writes to the copy (Memory Consistency Model: Proxy-preserved Base Causality Order), and this one is.
// launch: --block 64 --arch sm_90 --arg i32:64
// result: arg 0 = 63 - np.arange(64)
__global__ void kernel(int* out) {
    __shared__ __align__(16) int tile[64];
    unsigned at = __cvta_generic_to_shared(tile);
    tile[63 - threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                     :: "l"(out), "r"(at) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
