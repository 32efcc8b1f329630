// After each level there is a __syncwarp(), but within a level lane 0 reads what lane 16 overwrites.
// launch: --block 32 --arg i32:64:arange --arg i32:1
// hazard: race, "__syncwarp"
__global__ void kernel(const int* in, int* sum) {
    __shared__ int s[64];
    int lane = threadIdx.x;
    s[lane] = in[lane];
    s[lane + 32] = in[lane + 32];
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        s[lane] += s[lane + step];  // here
        __syncwarp();
    }
    if (lane == 0) *sum = s[0];
}
