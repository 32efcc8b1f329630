// After the reuse as 64-bit numbers, only the low halves are new; the high halves hold nothing that was ever written.
// launch: --block 32 --arg i64:32
// hazard: error, "nothing has written"
__global__ void kernel(long long* out) {
    __shared__ __align__(8) int words[64];
    words[2 * threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = *reinterpret_cast<long long*>(&words[2 * threadIdx.x]);  // here
}
