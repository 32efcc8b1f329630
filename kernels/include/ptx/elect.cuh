// elect.sync: one lane of a converged warp says yes, the same one at every call. The compiler then knows that a single
// thread goes on, which keeps the operands of TMA and tcgen05 in uniform registers.
// PTX ISA, "elect.sync". sm_90 and later.
#pragma once

__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "elect.sync _|p, 0xffffffff;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}" : "=r"(elected));
  return elected;
}
