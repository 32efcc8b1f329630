// The flag and the fences are right, but __ldg is for data that nobody writes during the launch.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: error, "ld.global.nc"
__global__ void kernel(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;  // here
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = __ldg(data);  // here
    }
}
