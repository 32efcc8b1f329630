// One warp copies and three warps read, with the roles of cuda::pipeline; every warp leaves on its own.
// launch: --block 128 --arg i32:288:arange --arg i32:288 --max-instructions 400000
// result: arg 1 = args[0].reshape(3, 96)[:, ::-1]
#include <cooperative_groups.h>
#include <cuda/pipeline>
__global__ void kernel(const int* in, int* out) {
    __shared__ int row[2][96];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    int t = threadIdx.x;
    auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    for (int i = 0; i < 3; i++) {
        if (t < 32) {
            pipe.producer_acquire();
            for (int at = t; at < 96; at += 32) cuda::memcpy_async(&row[i % 2][at], &in[96 * i + at], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            out[96 * i + t - 32] = row[i % 2][127 - t];
            pipe.consumer_release();
        }
    }
}
