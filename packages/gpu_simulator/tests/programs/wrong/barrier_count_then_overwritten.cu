// Behind __syncthreads_count the array is read and overwritten without another barrier.
// launch: --block 64 --arg i32:64:arange --arg i32:64
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    int odd = __syncthreads_count(in[threadIdx.x] % 2);
    out[threadIdx.x] = s[63 - threadIdx.x];  // here
    s[threadIdx.x] = odd;  // here
    __syncthreads();
    out[threadIdx.x] += s[63 - threadIdx.x];
}
