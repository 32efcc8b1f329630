// Lane 0 draws the work of its warp, and a shuffle hands the number to the others.
// launch: --grid 2 --block 64 --arg i32:320 --arg i32:1 --arg 10
// result: arg 0 = np.repeat(np.arange(10), 32)
__global__ void kernel(int* out, int* next, int n) {
    int lane = threadIdx.x % 32;
    while (true) {
        int mine = 0;
        if (lane == 0) mine = atomicAdd(next, 1);
        mine = __shfl_sync(~0u, mine, 0);
        if (mine >= n) return;
        out[mine * 32 + lane] = mine;
    }
}
