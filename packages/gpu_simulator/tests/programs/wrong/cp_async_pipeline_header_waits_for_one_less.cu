// The second wait still allows one group to be on its way, which is the tile that is read behind it.
// launch: --block 64 --arg i32:512:arange --arg i32:512
// hazard: error, "waits for one group too few"
#include <cuda_pipeline.h>
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[2][64];
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&tile[i][t], &in[i * 64 + t], 16);  // here
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = tile[0][63 - t];
    __pipeline_wait_prior(1);
    __syncthreads();
    out[64 + t] = tile[1][63 - t];  // here
}
