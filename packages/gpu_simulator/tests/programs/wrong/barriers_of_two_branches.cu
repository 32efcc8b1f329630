// The warps wait in two different branches. The counts fit, but the code relies on two barriers being one.
// launch: --block 64 --arg i32:64
// hazard: suspicious, "different __syncthreads()"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        __syncthreads();  // here
    } else {
        s[t] = -t;
        __syncthreads();  // here
    }
    out[t] = s[63 - t];
}
