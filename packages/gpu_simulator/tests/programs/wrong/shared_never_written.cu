// The array in shared memory is read although nobody ever writes it.
// launch: --block 64 --arg i32:64
// hazard: error, "nothing has written"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    if (out[0] == 5) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];  // here
}
