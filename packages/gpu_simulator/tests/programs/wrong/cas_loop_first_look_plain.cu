// The first look before the loop of atomicCAS is a plain load, which races with the updates of the other block. It does
// no harm here, because atomicCAS compares its value with memory again.
// launch: --grid 2 --block 1 --arg i32:64:arange --arg i32:1
// hazard: suspicious, "atomicCAS compares with memory again"
__global__ void kernel(const int* in, int* product) {
    int value = in[blockIdx.x] + 2, old = *product, assumed;  // here
    do {
        assumed = old;
        old = atomicCAS(product, assumed, assumed * value + 1);  // here
    } while (old != assumed);
}
