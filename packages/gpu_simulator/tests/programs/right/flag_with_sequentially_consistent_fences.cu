// fence.sc does all that fence.acq_rel does.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// result: arg 2 = [6]
__global__ void kernel(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 6;
        asm volatile("fence.sc.gpu;" ::: "memory");
        *flag = 1;
    } else {
        while (*flag == 0) {}
        asm volatile("fence.sc.gpu;" ::: "memory");
        *out = *data;
    }
}
