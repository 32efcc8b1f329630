// The data of the sequence lock are plain words, which the reader loads while they may be written: a race in any case.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:2 --arg i32:2
// hazard: race, "nothing orders the two blocks"
// timing: early
__global__ void kernel(volatile int* version, int* data, int* out) {
    if (blockIdx.x == 0) {
        *version = 1;
        __threadfence();
        data[0] = 10;  // here
        data[1] = 20;  // here
        __threadfence();
        *version = 2;
    } else {
        int before, after, a, b;
        do {
            before = *version;
            __threadfence();
            a = data[0];  // here
            b = data[1];  // here
            __threadfence();
            after = *version;
        } while (before != 2 || after != 2);
        out[0] = a;
        out[1] = b;
    }
}
