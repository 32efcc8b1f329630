// The scan stores into the buffer from which slower threads of the same step still read.
// launch: --block 64 --arg i32:64:arange --arg i32:64
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int left = t >= step ? s[t - step] : 0;  // here
        s[t] += left;  // here
        __syncthreads();
    }
    out[t] = s[t];
}
