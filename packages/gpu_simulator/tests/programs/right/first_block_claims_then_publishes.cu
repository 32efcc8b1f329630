// atomicCAS picks the block that initialises; everyone else waits until it publishes.
// launch: --grid 3 --block 1 --arg i32:1 --arg i32:1 --arg i32:3
// result: arg 2 = [5, 5, 5]
__global__ void kernel(int* state, int* table, int* out) {
    if (atomicCAS(state, 0, 1) == 0) {
        *table = 5;
        __threadfence();
        atomicExch(state, 2);
    } else {
        while (atomicAdd(state, 0) != 2) {}
        __threadfence();
    }
    out[blockIdx.x] = *table;
}
