// cuda::atomic_ref with store(release) and load(acquire) at device scope.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [5]
#include <cuda/atomic>
__global__ void kernel(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 5;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}
