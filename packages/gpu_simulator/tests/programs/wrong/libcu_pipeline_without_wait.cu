// cuda::pipeline: the row is read without consumer_wait().
// launch: --block 64 --arg i32:64:arange --arg i32:64
// hazard: race|error, "shared address"
#include <cooperative_groups.h>
#include <cuda/pipeline>
__global__ void kernel(const int* in, int* out) {
    __shared__ int row[64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(block, row, in, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    out[t] = row[63 - t];  // here
    pipe.consumer_release();
}
