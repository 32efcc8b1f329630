// Warp 0 waits at the barrier of the block, warp 1 at a named barrier for both: each waits for the other, for ever.
// launch: --block 64 --arg i32:64
// fault: Deadlock, "wait at barrier 1 for 64 threads"
__global__ void kernel(int* out) {
    if (threadIdx.x < 32) __syncthreads();  // here
    else asm volatile("bar.sync 1, 64;" ::: "memory");  // here
    out[threadIdx.x] = 1;
}
