// The consumer frees the slot without a fence behind its load, which may then be done after the producer's next store.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:1 --arg i32:1 --arg i32:6
// hazard: race, "no fence between the access and that write"
// timing: early
__global__ void kernel(int* slots, volatile int* head, volatile int* tail, int* out) {
    for (int i = 0; i < 6; i++) {
        if (blockIdx.x == 0) {
            while (i - *tail >= 2) {}
            __threadfence();
            slots[i % 2] = i * i;  // here
            __threadfence();
            *head = i + 1;
        } else {
            while (*head <= i) {}
            __threadfence();
            out[i] = slots[i % 2];  // here
            *tail = i + 1;
        }
    }
}
