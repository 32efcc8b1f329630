// A ballot at the end of each round says who stays, and only those are named in the next round.
// launch: --block 32 --arg i32:32
// result: arg 0 = 32 - np.arange(32) // 4 * 4
__global__ void kernel(int* out) {
    int rounds = threadIdx.x / 4;
    unsigned here = 0xffffffff;
    for (int i = 0;; i++) {
        int count = __popc(__ballot_sync(here, true));
        if (i == rounds) out[threadIdx.x] = count;
        here = __ballot_sync(here, i < rounds);
        if (i == rounds) break;
    }
}
