// Each thread uses a slot of its own in shared memory and needs no barrier.
// launch: --block 64 --arg i32:64
// result: arg 0 = 6 * np.arange(64)
__global__ void kernel(int* out) {
    __shared__ int s[4][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++) s[i][t] = i * t;
    for (int i = 3; i >= 0; i--) sum += s[i][t];
    out[t] = sum;
}
