// Atomics set and read the flag. They are relaxed, so both sides fence.
// launch: --grid 2 --block 32 --arg i32:32 --arg i32:1 --arg i32:32
// result: arg 2 = np.arange(32)[::-1]
__global__ void kernel(int* data, int* flag, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncwarp();
        if (t == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (t == 0) while (atomicAdd(flag, 0) == 0) {}
        __syncwarp();
        __threadfence();
        out[t] = data[31 - t];
    }
}
