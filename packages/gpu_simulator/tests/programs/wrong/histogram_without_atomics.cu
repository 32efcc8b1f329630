// Threads of all blocks raise the bins with plain loads and stores.
// launch: --grid 2 --block 32 --arg i32:64:random --arg i32:4
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(const int* in, int* bins) {
    int bin = in[blockIdx.x * 32 + threadIdx.x] % 4;
    int old = bins[bin];  // here
    bins[bin] = old + 1;  // here
}
