// In each turn the wait comes before the commit, so it counts a group less than it is meant to.
// launch: --block 64 --arg i32:1280:arange --arg i32:1280
// hazard: error, "waits for one group too few: let it leave fewer groups in flight, or commit the next copies before it"
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[2][64];
    int t = threadIdx.x;
    for (int i = 0; i < 6; i++) {
        if (i < 5) {
            unsigned at = __cvta_generic_to_shared(&tile[i % 2][t]);
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(in + 64 * i + t) : "memory");
        }
        asm volatile("cp.async.wait_group 1; cp.async.commit_group;" ::: "memory");
        __syncthreads();
        if (i > 0) out[64 * (i - 1) + t] = tile[(i - 1) % 2][63 - t];  // here
        __syncthreads();
    }
}
