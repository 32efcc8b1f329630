// Three blocks store their part and count up; the fourth waits until all three have counted.
// launch: --grid 4 --block 1 --arg i32:3 --arg i32:1 --arg i32:1
// result: arg 2 = [6]
__global__ void kernel(int* part, int* count, int* out) {
    if (blockIdx.x < 3) {
        part[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        atomicAdd(count, 1);
    } else {
        while (atomicAdd(count, 0) < 3) {}
        __threadfence();
        *out = part[0] + part[1] + part[2];
    }
}
