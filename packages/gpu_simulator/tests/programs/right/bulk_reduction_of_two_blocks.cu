// Both blocks add their tile to the same global array with a bulk reduction, whose additions are atomic.
// launch: --grid 2 --block 32 --arch sm_90 --arg i32:32
// result: arg 0 = 2 * np.arange(32) + 1
__global__ void kernel(int* out) {
    __shared__ __align__(16) int tile[32];
    tile[threadIdx.x] = threadIdx.x + blockIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 128;"
                     :: "l"(out), "r"((unsigned)__cvta_generic_to_shared(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
