// wait_group.read 1 waits for the older of two copies, whose half of the tile is then filled again.
// launch: --block 32 --arch sm_90 --arg i32:96
// result: arg 0 = np.arange(96)
__global__ void kernel(int* out) {
    __shared__ __align__(16) int tile[2][32];
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncwarp();
        tile[i % 2][t] = 32 * i + t;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (t == 0) {
            unsigned at = __cvta_generic_to_shared(tile[i % 2]);
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128; cp.async.bulk.commit_group;"
                         :: "l"(out + 32 * i), "r"(at) : "memory");
        }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
