// All lanes store data, and lane 0 fences and sets the flag. Nothing orders the stores of the other lanes before that.
// launch: --grid 2 --block 32 --arg i32:32 --arg i32:1 --arg i32:32
// hazard: race, "__syncwarp() is enough"
__global__ void kernel(int* data, volatile int* flag, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;  // here
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        while (*flag == 0) {}
        __threadfence();
        out[t] = data[t];  // here
    }
}
