// The second barrier waits for the same count as the first, which is reached already, so it lets everybody pass.
// launch: --grid 2 --block 1 --arg u32:1 --arg i32:2 --arg i32:2
// hazard: race, "nothing orders the two blocks"
// timing: late
__device__ void meet(unsigned* arrived) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile unsigned*)arrived < gridDim.x) {}
    __threadfence();
}
__global__ void kernel(unsigned* arrived, int* part, int* out) {
    part[blockIdx.x] = blockIdx.x;
    meet(arrived);
    out[blockIdx.x] = part[1 - blockIdx.x];  // here
    meet(arrived);
    part[blockIdx.x] += 10;  // here
}
