// Thread 0 decides when the loop ends; the flag is written and read between barriers.
// launch: --block 64 --arg i32:64
// result: arg 0 = np.full(64, 5)
__global__ void kernel(int* out) {
    __shared__ bool done;
    int rounds = 0;
    while (true) {
        if (threadIdx.x == 0) done = rounds == 5;
        __syncthreads();
        if (done) break;
        rounds++;
        __syncthreads();
    }
    out[threadIdx.x] = rounds;
}
