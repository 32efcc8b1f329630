// What the registers of reserved shared memory hold, and where the block's own arrays begin.
// launch: 1 block of 32 threads, 256 bytes of dynamic shared memory
#include "config.cuh"
#define READ(INTO, REGISTER) asm volatile("mov.u32 %0, %%" REGISTER ";" : "=r"(INTO))
extern __shared__ uint32_t dynamic[];

extern "C" __global__ void kernel(uint32_t* out) {
  __shared__ uint32_t own[32];
  own[threadIdx.x] = dynamic[threadIdx.x] = 1;
  if (threadIdx.x == 0) {
    READ(out[0], "reserved_smem_offset_begin");
    READ(out[1], "reserved_smem_offset_end");
    READ(out[2], "reserved_smem_offset_cap");
    READ(out[3], "reserved_smem_offset_0");
    READ(out[4], "reserved_smem_offset_1");
    out[5] = __cvta_generic_to_shared(own);
    out[6] = __cvta_generic_to_shared(dynamic);
    READ(out[7], "total_smem_size");
    READ(out[8], "dynamic_smem_size");
  }
}
