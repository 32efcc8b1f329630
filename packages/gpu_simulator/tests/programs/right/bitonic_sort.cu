// A bitonic network: in each step a pair is compared by one of its two threads, and barriers part the steps.
// launch: --block 64 --arg i32:64:random
// result: arg 0 = np.sort(args[0])
__global__ void kernel(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    for (int size = 2; size <= 64; size *= 2)
        for (int gap = size / 2; gap > 0; gap /= 2) {
            __syncthreads();
            int mate = t ^ gap, a = s[t], b = s[mate];
            __syncthreads();
            if (mate > t && (a > b) == ((t & size) == 0)) {
                s[t] = b;
                s[mate] = a;
            }
        }
    __syncthreads();
    data[t] = s[t];
}
