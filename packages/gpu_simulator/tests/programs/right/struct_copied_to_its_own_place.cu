// Each thread copies a struct of 12 bytes to its own place.
// launch: --block 64 --arg i32:192:arange --arg i32:192
// result: arg 1 = args[0]
struct Triple { int a, b, c; };
__global__ void kernel(const Triple* in, Triple* out) {
    Triple mine = in[threadIdx.x];
    out[threadIdx.x] = mine;
}
