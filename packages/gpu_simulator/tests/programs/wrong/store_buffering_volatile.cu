// Each block sets its word and reads the other's once. Without fences both may read 0; timing decides anyway.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:2
// hazard: suspicious, "nothing orders these two"
__global__ void kernel(volatile int* words, int* out) {
    int me = blockIdx.x, other = 1 - blockIdx.x;
    words[me] = 1;  // here
    out[me] = words[other];  // here
}
