// The block repeats until no thread has work left; __syncthreads_or is the barrier of the loop as well.
// launch: --block 64 --arg i32:64
// result: arg 0 = np.arange(64) % 7
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, left = t % 7;
    s[t] = 0;
    while (__syncthreads_or(left > 0)) {
        if (left > 0) {
            s[63 - t]++;
            left--;
        }
    }
    out[t] = s[63 - t];
}
