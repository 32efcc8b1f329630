// Each lane stores its own element and then the next one, which is its neighbour's.
// launch: --block 32 --arg i32:33
// hazard: race, "__syncwarp"
__global__ void kernel(int* out) {
    int t = threadIdx.x;
    out[t] = t;  // here
    out[t + 1] = -t;  // here
}
