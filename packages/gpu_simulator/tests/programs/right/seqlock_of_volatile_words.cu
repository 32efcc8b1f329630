// A sequence lock: the reader repeats until both version reads agree on the final even number. The data are volatile.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:2 --arg i32:2
// result: arg 2 = [10, 20]
__global__ void kernel(volatile int* version, volatile int* data, int* out) {
    if (blockIdx.x == 0) {
        *version = 1;
        __threadfence();
        data[0] = 10;
        data[1] = 20;
        __threadfence();
        *version = 2;
    } else {
        int before, after, a, b;
        do {
            before = *version;
            __threadfence();
            a = data[0];
            b = data[1];
            __threadfence();
            after = *version;
        } while (before != 2 || after != 2);
        out[0] = a;
        out[1] = b;
    }
}
