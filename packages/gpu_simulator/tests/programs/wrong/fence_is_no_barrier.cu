// A fence orders what one thread does; it waits for nobody.
// launch: --grid 2 --block 32 --arg i32:64 --arg i32:64
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* part, int* out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    part[i] = i;  // here
    __threadfence();
    out[i] = part[63 - i];  // here
}
