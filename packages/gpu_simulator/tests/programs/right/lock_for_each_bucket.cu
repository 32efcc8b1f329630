// Each bucket has a lock of its own, and each update holds the lock of its bucket.
// launch: --grid 4 --block 1 --arg i32:2 --arg i32:2
// result: arg 1 = [2, 4]
__global__ void kernel(int* locks, int* buckets) {
    int bucket = blockIdx.x % 2;
    while (atomicCAS(&locks[bucket], 0, 1) != 0) {}
    __threadfence();
    buckets[bucket] += bucket + 1;
    __threadfence();
    atomicExch(&locks[bucket], 0);
}
