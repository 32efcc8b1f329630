// All lanes of a warp store the same value in one instruction: one of the stores is done, and all are equal.
// launch: --block 32 --arg i32:1
// result: arg 0 = [7]
__global__ void kernel(int* out) {
    // Every lane is told to store,
    // and all of them store 7.
    *out = 7;
}
