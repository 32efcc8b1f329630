// A thread writes a value and reads it back through the read-only path, which may still hold the old one.
// launch: --block 32 --arg i32:32 --arg i32:32
// hazard: error, "ld.global.nc"
__global__ void kernel(int* data, int* out) {
    int t = threadIdx.x;
    data[t] = 2 * t;  // here
    __threadfence();
    out[t] = __ldg(&data[t]);  // here
}
