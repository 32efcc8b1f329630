// Each round reads all pointers, meets, and then stores the new ones.
// launch: --block 64 --arg i32:64
// result: arg 0 = np.full(64, 63)
__global__ void kernel(int* out) {
    __shared__ int next[64];
    int t = threadIdx.x;
    next[t] = min(t + 1, 63);
    __syncthreads();
    for (int i = 0; i < 6; i++) {
        int far = next[next[t]];
        __syncthreads();
        next[t] = far;
        __syncthreads();
    }
    out[t] = next[t];
}
