// The writer's fence stands before the data instead of between data and flag.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "no fence between the access and that write"
__global__ void kernel(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        __threadfence();
        *data = 42;  // here
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;  // here
    }
}
