// A transfer needs two locks and takes the one with the smaller number first.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:2
// result: arg 1 = [-1, 1]
__device__ void take(int* lock) { while (atomicCAS(lock, 0, 1) != 0) {} }
__global__ void kernel(int* locks, int* account) {
    int from = blockIdx.x, to = 1 - from;
    take(&locks[0]);
    take(&locks[1]);
    __threadfence();
    account[from] -= 1 + to;
    account[to] += 1 + to;
    __threadfence();
    atomicExch(&locks[1], 0);
    atomicExch(&locks[0], 0);
}
