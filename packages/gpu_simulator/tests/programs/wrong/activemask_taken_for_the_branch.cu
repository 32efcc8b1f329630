// __activemask() says who happens to run together, not who has entered the branch: there may be two leaders or more.
// launch: --block 32 --arg i32:32:arange --arg i32:1
// hazard: suspicious, "__activemask"
__global__ void kernel(const int* in, int* sum) {
    int value = in[threadIdx.x];
    if (value % 2) {
        unsigned mask = __activemask();  // here
        int total = __reduce_add_sync(mask, value);
        if (threadIdx.x == __ffs(mask) - 1) *sum = total;
    }
}
