// The memory is filled with floats while other threads may still read the integers.
// launch: --block 64 --arg f32:64
// hazard: race, "no barrier"
__global__ void kernel(float* out) {
    __shared__ __align__(8) unsigned char memory[256];
    int t = threadIdx.x;
    reinterpret_cast<int*>(memory)[t] = t;
    __syncthreads();
    int number = reinterpret_cast<int*>(memory)[63 - t];  // here
    reinterpret_cast<float*>(memory)[t] = 0.25f;  // here
    __syncthreads();
    out[t] = number + reinterpret_cast<float*>(memory)[63 - t];
}
