// The atomic_ref has thread_scope_block, and the two threads are in different blocks.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "the scope of the device"
#include <cuda/atomic>
__global__ void kernel(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_block> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 5;  // here
        ready.store(1, cuda::memory_order_release);  // here
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}  // here
        *out = *data;  // here
    }
}
