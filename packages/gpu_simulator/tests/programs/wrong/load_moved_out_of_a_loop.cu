// The compiler reads the largest value once, before the loop, and gives that load line 0; the line of its use is named.
// launch: --block 64 --arg f32:256:random --arg f32:64 --arg 4
// hazard: race, "reads largest (shared address"
__global__ void kernel(const float* in, float* out, int rows) {
    __shared__ float largest;
    if (threadIdx.x == 0) largest = in[0];
    float sum = 0;
    for (int row = 0; row < rows; row++) {
        int at = row * 64 + threadIdx.x;
        sum += at < 200 ? expf(in[at] - largest) : 0.f;  // here
    }
    out[threadIdx.x] = sum;
}
