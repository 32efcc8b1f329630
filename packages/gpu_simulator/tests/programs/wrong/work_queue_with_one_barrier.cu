// There is no barrier after the threads have read the number, so thread 0 may replace it too early.
// launch: --grid 1 --block 64 --arg i32:512 --arg i32:1 --arg 8
// hazard: race, "no barrier"
__global__ void kernel(int* out, int* next, int n) {
    __shared__ int drawn;
    while (true) {
        if (threadIdx.x == 0) drawn = atomicAdd(next, 1);  // here
        __syncthreads();
        int mine = drawn;  // here
        if (mine >= n) return;
        out[mine * 64 + threadIdx.x] = mine;
    }
}
