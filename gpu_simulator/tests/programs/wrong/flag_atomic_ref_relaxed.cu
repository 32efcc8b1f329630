// Both sides use memory_order_relaxed and no fence, so the flag says nothing about the data.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "no fence between the access and that write"
#include <cuda/atomic>
__global__ void kernel(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 5;  // here
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) {}
        *out = *data;  // here
    }
}
