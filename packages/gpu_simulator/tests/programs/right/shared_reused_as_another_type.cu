// The same memory holds integers first and floats later, with a barrier between the two uses.
// launch: --block 64 --arg f32:64
// result: arg 0 = 63 - np.arange(64) + 0.25
__global__ void kernel(float* out) {
    __shared__ __align__(8) unsigned char memory[256];
    int t = threadIdx.x;
    int* numbers = reinterpret_cast<int*>(memory);
    numbers[t] = t;
    __syncthreads();
    int number = numbers[63 - t];
    __syncthreads();
    float* halves = reinterpret_cast<float*>(memory);
    halves[t] = 0.25f;
    __syncthreads();
    out[t] = number + halves[63 - t];
}
