// A tree in shared memory with a barrier after every level.
// launch: --block 128 --arg i32:128:arange --arg i32:1
// result: arg 1 = [8128]
__global__ void kernel(const int* in, int* sum) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) *sum = s[0];
}
