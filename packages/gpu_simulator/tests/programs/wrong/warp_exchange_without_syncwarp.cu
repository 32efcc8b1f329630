// Lanes of one warp need not run in step: without __syncwarp() a lane may read before its partner has written.
// launch: --block 64 --arg i32:64
// hazard: race, "__syncwarp"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;  // here
    out[threadIdx.x] = s[threadIdx.x ^ 31];  // here
}
