// Dynamic shared memory holds two arrays, one behind the other.
// launch: --block 64 --smem 768 --arg f64:64
// result: arg 0 = np.arange(64)[::-1] + 0.5
extern __shared__ __align__(8) unsigned char memory[];
__global__ void kernel(double* out) {
    double* halves = reinterpret_cast<double*>(memory);
    int* numbers = reinterpret_cast<int*>(halves + 64);
    int t = threadIdx.x;
    halves[t] = 0.5;
    numbers[t] = t;
    __syncthreads();
    out[t] = halves[63 - t] + numbers[63 - t];
}
