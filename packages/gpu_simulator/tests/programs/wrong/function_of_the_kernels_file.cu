// The fault lies in a function of the same file; the message begins with that line, and names the call behind it.
// launch: --block 64 --arg i32:64
// hazard: race, "(called from line 11)"
__device__ int neighbour(int* s, int t) {
    s[t] = t * t;
    return s[(t + 1) % 64];  // here
}
__device__ __forceinline__ int twice(int x) { return 2 * x; }
__global__ void kernel(int* out) {
    __shared__ int s[64];
    out[threadIdx.x] = twice(neighbour(s, threadIdx.x));
}
