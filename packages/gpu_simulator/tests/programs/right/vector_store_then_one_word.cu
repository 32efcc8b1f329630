// A 16-byte store, a barrier, and then a 4-byte store of another thread into the same place.
// launch: --block 64 --arg i32:256
// result: arg 0 = np.where(np.arange(256) % 4 == 1, 9, 5)
__global__ void kernel(int* out) {
    reinterpret_cast<int4*>(out)[threadIdx.x] = make_int4(5, 5, 5, 5);
    __syncthreads();
    out[4 * (63 - threadIdx.x) + 1] = 9;
}
