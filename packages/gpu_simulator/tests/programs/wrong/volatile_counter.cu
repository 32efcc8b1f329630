// A volatile counter is no atomic one: two blocks may read the same value, and one increment is lost.
// launch: --grid 4 --block 1 --arg i32:1
// hazard: suspicious, "nothing orders these two"
__global__ void kernel(volatile int* count) {
    int old = *count;  // here
    int more = old + 1;
    *count = more;  // here
}
