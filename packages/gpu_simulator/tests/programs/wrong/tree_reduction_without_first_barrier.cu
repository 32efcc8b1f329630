// There is no barrier between the first stores and the first level of the tree.
// launch: --block 128 --arg i32:128:arange --arg i32:1
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* sum) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];  // here
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];  // here
        __syncthreads();
    }
    if (t == 0) *sum = s[0];
}
