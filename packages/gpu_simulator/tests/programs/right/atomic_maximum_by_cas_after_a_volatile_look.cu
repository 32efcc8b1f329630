// The first look is a volatile load. A stale value does no harm, because atomicCAS compares it again.
// launch: --grid 2 --block 32 --arg i32:64:arange --arg i32:1
// result: arg 1 = [63]
__global__ void kernel(const int* in, int* maximum) {
    int value = in[blockIdx.x * 32 + threadIdx.x];
    int old = *(volatile int*)maximum;
    while (value > old) {
        int assumed = old;
        old = atomicCAS(maximum, assumed, value);
        if (old == assumed) break;
    }
}
