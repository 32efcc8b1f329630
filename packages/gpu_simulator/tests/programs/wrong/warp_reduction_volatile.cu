// volatile keeps the loads and stores, but it does not keep the lanes in step: the sum may be wrong since Volta.
// launch: --block 32 --arg i32:64:arange --arg i32:1
// hazard: race, "__syncwarp() between the two does"
__global__ void kernel(const int* in, int* sum) {
    __shared__ volatile int s[64];
    int lane = threadIdx.x;
    s[lane] = in[lane];
    s[lane + 32] = in[lane + 32];
    for (int step = 32; step > 0; step /= 2) {
        int other = s[lane + step];  // here
        s[lane] = s[lane] + other;  // here
    }
    if (lane == 0) *sum = s[0];
}
