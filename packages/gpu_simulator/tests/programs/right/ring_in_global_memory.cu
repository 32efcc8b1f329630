// A ring of two slots. The producer waits until a slot is free, the consumer until it is full; each fences both ways.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:1 --arg i32:1 --arg i32:6
// result: arg 3 = np.arange(6) ** 2
__global__ void kernel(int* slots, volatile int* head, volatile int* tail, int* out) {
    for (int i = 0; i < 6; i++) {
        if (blockIdx.x == 0) {
            while (i - *tail >= 2) {}
            __threadfence();
            slots[i % 2] = i * i;
            __threadfence();
            *head = i + 1;
        } else {
            while (*head <= i) {}
            __threadfence();
            out[i] = slots[i % 2];
            __threadfence();
            *tail = i + 1;
        }
    }
}
