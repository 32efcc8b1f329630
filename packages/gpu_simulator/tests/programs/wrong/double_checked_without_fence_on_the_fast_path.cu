// A block that finds the flag set reads the table without a fence. Here block 1 begins late and takes that path.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1 --arg i32:2
// hazard: race, "no fence between that read and this access"
__global__ void kernel(volatile int* flag, volatile int* begun, int* table, int* out) {
    if (blockIdx.x == 1) while (*begun == 0) {}
    if (*flag == 0) {
        *table = 5;  // here
        __threadfence();
        *flag = 1;
        *begun = 1;
    }
    out[blockIdx.x] = *table;  // here
}
