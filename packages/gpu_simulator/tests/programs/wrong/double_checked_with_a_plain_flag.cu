// The first check reads the flag with a plain load: it races, and it acquires nothing.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1 --arg i32:2
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* flag, int* lock, int* table, int* out) {
    if (*flag == 0) {  // here
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        if (atomicAdd(flag, 0) == 0) {
            *table = 5;
            __threadfence();
            atomicExch(flag, 1);  // here
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x] = *table;
}
