// The ballot stands in the branch and names lanes that are not there.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// fault: Deadlock, "needs every lane that it names"
__global__ void kernel(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (value % 3 == 0) {
        unsigned keep = __ballot_sync(0xffffffff, true);  // here
        out[__popc(keep & ((1u << threadIdx.x) - 1))] = value;
    }
    __syncwarp();
    out[threadIdx.x] += 1;
}
