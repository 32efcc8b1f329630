// The lanes meet in a shuffle, but of another value, so the compiler may move the load behind it.
// launch: --block 32 --arg i32:32 --arg i32:32:arange
// hazard: race, "but these order no memory"
__global__ void kernel(int* out, const int* in) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = lane;
    __syncwarp();
    int read = s[31 - lane];  // here
    s[lane] = __shfl_xor_sync(~0u, in[lane], 1);  // here
    out[lane] = read + s[lane];
}
