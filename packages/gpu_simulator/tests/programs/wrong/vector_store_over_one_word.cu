// A 16-byte store of one warp covers a word that another warp stores.
// launch: --block 64 --arg i32:128
// hazard: race, "no barrier"
__global__ void kernel(int* out) {
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) reinterpret_cast<int4*>(out)[lane] = make_int4(5, 5, 5, 5);  // here
    else out[4 * lane + 1] = 9;  // here
}
