// The two halves of a warp wait at two different __syncwarp() of one mask, and read what the other half has stored.
// launch: 1 block of 32 threads
extern "C" __global__ void kernel(unsigned* out) {
    __shared__ unsigned stored[32];
    unsigned lane = threadIdx.x;
    if (lane < 16) {
        stored[lane] = lane;
        __syncwarp();
        out[lane] = stored[31 - lane];
    } else {
        stored[lane] = 100 + lane;
        __syncwarp();
        out[lane] = stored[31 - lane] + 1000;
    }
}
