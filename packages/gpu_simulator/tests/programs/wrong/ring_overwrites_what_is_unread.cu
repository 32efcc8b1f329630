// The producer does not wait for a free slot and may overwrite one that the consumer has not read.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:1 --arg i32:6
// hazard: race, "nothing orders the two blocks"
// timing: late
__global__ void kernel(int* slots, volatile int* head, int* out) {
    for (int i = 0; i < 6; i++) {
        if (blockIdx.x == 0) {
            slots[i % 2] = i * i;  // here
            __threadfence();
            *head = i + 1;
        } else {
            while (*head <= i) {}
            __threadfence();
            out[i] = slots[i % 2];  // here
        }
    }
}
