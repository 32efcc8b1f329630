// The functions of cuda_pipeline.h do the same in CUDA C++.
// launch: --block 64 --arg i32:512:arange --arg i32:512
// result: arg 1 = args[0].reshape(2, 64, 4)[:, ::-1]
#include <cuda_pipeline.h>
__global__ void kernel(const int4* in, int4* out) {
    __shared__ int4 tile[2][64];
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&tile[i][t], &in[i * 64 + t], 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = tile[0][63 - t];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[64 + t] = tile[1][63 - t];
}
