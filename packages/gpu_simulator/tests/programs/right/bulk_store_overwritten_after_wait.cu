// wait_group.read lets the thread that asked for the copy overwrite the tile; a barrier lets the others.
// launch: --block 64 --arch sm_90 --arg i32:64
// result: arg 0 = np.arange(64)[::-1]
__global__ void kernel(int* out) {
    __shared__ __align__(16) int tile[64];
    unsigned at = __cvta_generic_to_shared(tile);
    tile[63 - threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                     :: "l"(out), "r"(at) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
    tile[threadIdx.x] = 7;
}
