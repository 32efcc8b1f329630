// Thread 0 waits for the flag, and the other warp of its block reads the data without a barrier after that wait.
// launch: --grid 2 --block 64 --arg i32:64 --arg i32:1 --arg i32:64
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* data, volatile int* flag, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 3 * t;  // here
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
        return;
    }
    if (t == 0) {
        while (*flag == 0) {}
        __threadfence();
    }
    __syncwarp();
    out[t] = data[t];  // here
}
