// Three tiles are copied in three groups, and the wait leaves two of them in flight, but the newest is read.
// launch: --block 32 --arg i32:96:arange --arg i32:32
// hazard: error, "waits for 2 groups too few"
__global__ void kernel(const int* in, int* out) {
    __shared__ int tile[3][32];
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        unsigned at = __cvta_generic_to_shared(&tile[i][t]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" :: "r"(at), "l"(in + 32 * i + t) : "memory");
    }
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncwarp();
    int sum = tile[2][31 - t];  // here
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    out[t] = sum + tile[0][t] + tile[1][t];
}
