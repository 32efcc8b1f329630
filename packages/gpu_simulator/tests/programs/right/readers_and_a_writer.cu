// -1 means that the writer is at work, another number how many readers are. Each side waits for the other and fences.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 1 = [2]
__global__ void kernel(int* state, int* value, int* out) {
    for (int round = 0; round < 2; round++) {
        if (blockIdx.x == 0) {
            while (atomicCAS(state, 0, -1) != 0) {}
            __threadfence();
            *value += 1;
            __threadfence();
            atomicExch(state, 0);
        } else {
            int seen;
            do seen = atomicMax(state, -1);
            while (seen < 0 || atomicCAS(state, seen, seen + 1) != seen);
            __threadfence();
            *out = *value;
            __threadfence();
            atomicSub(state, 1);
        }
    }
}
