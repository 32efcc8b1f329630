// Threads push nodes onto a list: the old head, from atomicExch, becomes the next of the new node.
// launch: --grid 2 --block 32 --arg i32:1 --arg i32:65
__global__ void kernel(int* head, int* next) {
    int node = 1 + blockIdx.x * 32 + threadIdx.x;
    // Nobody follows the list in this launch.
    int old = atomicExch(head, node);
    next[node] = old;
}
