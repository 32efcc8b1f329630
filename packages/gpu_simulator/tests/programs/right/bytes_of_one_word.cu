// Each thread stores its own byte. Four of them lie in one word, and byte stores to one word do not disturb each other.
// launch: --grid 2 --block 32 --arg u8:64
// result: arg 0 = np.arange(64)
__global__ void kernel(unsigned char* out) {
    __shared__ unsigned char s[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    s[threadIdx.x] = i;
    out[i] = s[threadIdx.x];
}
