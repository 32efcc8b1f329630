// Each half synchronises with itself, but reads what the other half has written.
// launch: --block 32 --arg i32:32
// hazard: race, "__syncwarp"
__global__ void kernel(int* out) {
    __shared__ int s[32];
    unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    s[threadIdx.x] = threadIdx.x;  // here
    __syncwarp(mask);
    out[threadIdx.x] = s[threadIdx.x ^ 16];  // here
}
