// A vote stands between the stores and the loads of the neighbours, but it does not order them.
// launch: --block 32 --arg i32:32
// hazard: race, "a shfl, vote, match or redux since then, but these order no memory; it needs __syncwarp()"
__global__ void kernel(int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = lane * lane;  // here
    int all = __all_sync(~0u, lane < 32);
    out[lane] = all + s[31 - lane];  // here
}
