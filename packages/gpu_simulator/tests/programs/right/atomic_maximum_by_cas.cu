// atomicMax of floats with a loop of atomicCAS. The first look is an atomic as well.
// launch: --grid 2 --block 32 --arg f32:64:arange --arg i32:1
// result: arg 1 = np.array([63], np.float32).view(np.int32)
__global__ void kernel(const float* in, int* maximum) {
    float value = in[blockIdx.x * 32 + threadIdx.x];
    int old = atomicAdd(maximum, 0), assumed;
    while (value > __int_as_float(old)) {
        assumed = old;
        old = atomicCAS(maximum, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
}
