// ldmatrix is an instruction of the whole warp; here only sixteen lanes execute it.
// launch: --block 32 --arg i32:32
// hazard: error, "lane"
__global__ void kernel(unsigned* out) {
    __shared__ __align__(16) unsigned tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncwarp();
    unsigned got = 0, at = __cvta_generic_to_shared(&tile[threadIdx.x % 8 * 4]);
    if (threadIdx.x < 16)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(got) : "r"(at) : "memory");  // here
    out[threadIdx.x] = got;
}
