// The last thread reads the neighbour in the next row, which another warp is still writing.
// launch: --block 64 --arg i32:64
// hazard: race, "no barrier"
__global__ void kernel(int* out) {
    __shared__ int s[2][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[warp][lane] = threadIdx.x;  // here
    if (lane == 0) s[warp][32] = 0;
    __syncwarp();
    int* row = s[warp];
    out[threadIdx.x] = row[lane + 2 - warp];  // here
}
