// setmaxnreg: a warpgroup, four warps, hands registers back to its multiprocessor or asks for more of them.
// All four warps execute it. The number is a multiple of 8, from 24 to 256, for each thread.
// PTX ISA, "setmaxnreg". sm_90a, sm_100a, sm_120a: only with the a.
#pragma once

template <int REGISTERS>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(REGISTERS));
}

// Waits until so many are free.
template <int REGISTERS>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(REGISTERS));
}
