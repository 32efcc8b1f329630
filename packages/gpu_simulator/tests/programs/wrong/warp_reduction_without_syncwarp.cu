// The reduction of the last warp as it was written before Volta, without volatile and without __syncwarp().
// launch: --block 32 --arg i32:64:arange --arg i32:1
// hazard: race, "__syncwarp"
__global__ void kernel(const int* in, int* sum) {
    __shared__ int s[64];
    int lane = threadIdx.x;
    s[lane] = in[lane];
    s[lane + 32] = in[lane + 32];
    for (int step = 32; step > 0; step /= 2) s[lane] += s[lane + step];  // here
    if (lane == 0) *sum = s[0];
}
