// wait_group.read says that the tile has been read, and not that the global array is written.
// launch: --block 64 --arch sm_90 --arg i32:65
// hazard: error, "wait_group"
__global__ void kernel(int* out) {
    __shared__ __align__(16) int tile[64];
    unsigned at = __cvta_generic_to_shared(tile);
    tile[63 - threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                     :: "l"(out), "r"(at) : "memory");  // here
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        out[64] = out[5] + 1;  // here
    }
}
