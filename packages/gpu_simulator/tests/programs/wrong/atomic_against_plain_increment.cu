// Block 0 adds with atomics and block 1 with a plain load and store.
// launch: --grid 2 --block 1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* count) {
    if (blockIdx.x == 0)
        atomicAdd(count, 1);  // here
    else
        *count += 1;  // here
}
