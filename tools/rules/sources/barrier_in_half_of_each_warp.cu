// Half of each warp waits at __syncthreads(), and the other half passes it by and ends later.
// launch: 1 block of 64 threads
// simulator: hazard, do not come to this barrier
extern "C" __global__ void kernel(unsigned* out) {
    __shared__ unsigned stored[64];
    unsigned t = threadIdx.x;
    stored[t] = t;
    __syncthreads();
    if (t % 32 < 16) {
        stored[t] += 100;
        __syncthreads();
    }
    out[t] = stored[t];
}
