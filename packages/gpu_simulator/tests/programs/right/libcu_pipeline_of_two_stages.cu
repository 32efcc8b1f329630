// cuda::pipeline copies the next row while this one is read; its destructor invalidates the mbarriers when all have left.
// launch: --block 64 --arg i32:384:arange --arg i32:384
// result: arg 1 = args[0].reshape(6, 64)[:, ::-1]
#include <cooperative_groups.h>
#include <cuda/pipeline>
__global__ void kernel(const int* in, int* out) {
    __shared__ int row[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x;
    for (int read = 0, copied = 0; read < 6; read++) {
        for (; copied < 6 && copied < read + 2; copied++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, row[copied % 2], in + 64 * copied, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[64 * read + t] = row[read % 2][63 - t];
        pipe.consumer_release();
    }
}
