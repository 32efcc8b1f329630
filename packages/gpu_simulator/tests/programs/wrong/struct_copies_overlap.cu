// Structs of 12 bytes are copied to places that are 8 bytes apart.
// launch: --grid 2 --block 1 --arg i32:6:arange --arg i32:5
// hazard: race, "nothing orders the two blocks"
struct Triple { int a, b, c; };
__global__ void kernel(const Triple* in, int* out) {
    Triple* to = reinterpret_cast<Triple*>(out + 2 * blockIdx.x);
    *to = in[blockIdx.x];  // here
}
