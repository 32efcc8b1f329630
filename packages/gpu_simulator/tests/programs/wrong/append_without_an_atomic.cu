// Threads append to a list with a plain counter, so they share places and lose entries.
// launch: --grid 2 --block 32 --arg i32:64:arange --arg i32:64 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(const int* in, int* list, int* count) {
    int place = *count;  // here
    *count = place + 1;  // here
    list[place] = in[blockIdx.x * 32 + threadIdx.x];  // here
}
