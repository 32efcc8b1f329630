// The spin ends when all blocks but one have arrived, so a block may read what the last one has not yet written.
// launch: --grid 2 --block 1 --arg u32:1 --arg i32:2 --arg i32:2
// hazard: race, "nothing orders the two blocks"
// timing: late
__global__ void kernel(unsigned* arrived, int* part, int* out) {
    part[blockIdx.x] = blockIdx.x;  // here
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile unsigned*)arrived < gridDim.x - 1) {}
    __threadfence();
    out[blockIdx.x] = part[1 - blockIdx.x];  // here
}
