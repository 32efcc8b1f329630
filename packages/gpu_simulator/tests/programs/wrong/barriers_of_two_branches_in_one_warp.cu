// The lanes of each warp wait in two different branches. __syncthreads() is aligned: a warp has to reach it as one.
// launch: --block 64 --arg i32:64
// hazard: suspicious|error, "__syncthreads()"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t % 32 < 16) {
        __syncthreads();  // here
        out[t] = s[63 - t];
    } else {
        __syncthreads();  // here
        out[t] = -s[63 - t];
    }
}
