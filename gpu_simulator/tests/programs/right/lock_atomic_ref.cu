// exchange(acquire) takes the lock, store(release) gives it back.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// result: arg 1 = [2]
#include <cuda/atomic>
__global__ void kernel(int* word, int* number) {
    cuda::atomic_ref<int, cuda::thread_scope_device> lock(*word);
    while (lock.exchange(1, cuda::memory_order_acquire) == 1) {}
    *number += 1;
    lock.store(0, cuda::memory_order_release);
}
