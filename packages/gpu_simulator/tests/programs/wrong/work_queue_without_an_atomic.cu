// The queue's counter is read and raised with plain accesses, so two blocks may draw the same work.
// launch: --grid 2 --block 1 --arg i32:8 --arg i32:1 --arg 8
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* out, int* next, int n) {
    int mine = *next;  // here
    *next = mine + 1;  // here
    if (mine < n) out[mine] = blockIdx.x;
}
