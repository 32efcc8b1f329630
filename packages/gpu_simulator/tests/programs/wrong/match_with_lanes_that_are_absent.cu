// Only lanes with a positive value look for their group, but the mask names the whole warp.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// fault: Deadlock, "needs every lane that it names"
__global__ void kernel(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (value > 4) out[threadIdx.x] = __popc(__match_any_sync(0xffffffff, value % 4));  // here
    __syncwarp();
    out[threadIdx.x] += 1;
}
