// FILL_SCALES
// Fills an array with 1/2, 1 and 2, or with any factors between.
__global__ void fill_scales(float* array, size_t count, unsigned seed, bool normal) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
    const unsigned h = hash((unsigned)i ^ hash(seed));
    array[i] = normal ? exp2f(h * 0x1p-31f - 1.0f) : ldexpf(1.0f, (int)(h % 3) - 1);
  }
}
// MAKE_SCALES
  float *scale_a, *scale_b;
  const size_t scales_a = (size_t)host_cdiv(K, 128) * M, scales_b = (size_t)host_cdiv(N, 128) * host_cdiv(K, 128);
  require(cudaMalloc(&scale_a, scales_a * sizeof *scale_a), "scales of A");
  require(cudaMalloc(&scale_b, scales_b * sizeof *scale_b), "scales of B");
// FILL_SCALES_ALL

    fill_scales<<<1024, 256>>>(scale_a, scales_a, 4u, normal);
    fill_scales<<<1024, 256>>>(scale_b, scales_b, 5u, normal);
