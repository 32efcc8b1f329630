// Lanes hand values to their neighbours through volatile memory, and nothing makes them wait for each other.
// launch: --block 64 --arg i32:64
// hazard: race, "__syncwarp() between the two does"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    volatile int* seen = s;
    int t = threadIdx.x;
    seen[t] = t * t;  // here
    out[t] = seen[t ^ 1];  // here
}
