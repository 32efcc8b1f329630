// Threads of one block exchange values through global memory, without a barrier.
// launch: --block 64 --arg i32:64 --arg i32:64
// hazard: race, "no barrier"
__global__ void kernel(int* buffer, int* out) {
    int t = threadIdx.x;
    buffer[t] = t;  // here
    out[t] = buffer[63 - t];  // here
}
