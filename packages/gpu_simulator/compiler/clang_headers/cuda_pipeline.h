// The primitives of asynchronous copies. Facts: CUDA C++ Programming Guide, “Pipeline Primitives Interface”.
#pragma once

#include "builtin/async_copy.h"

LAB_DEVICE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  if (bytes == 16) lab_async_copy<16>(to, from, 16 - zeros);
  else if (bytes == 8) lab_async_copy<8>(to, from, 8 - zeros);
  else lab_async_copy<4>(to, from, 4 - zeros);
}
LAB_DEVICE void __pipeline_commit() { lab_async_commit(); }
// The number of groups that may still be under way is part of the instruction.
LAB_DEVICE void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0: return lab_async_wait<0>();
    case 1: return lab_async_wait<1>();
    case 2: return lab_async_wait<2>();
    case 3: return lab_async_wait<3>();
    case 4: return lab_async_wait<4>();
    case 5: return lab_async_wait<5>();
    case 6: return lab_async_wait<6>();
    case 7: return lab_async_wait<7>();
    default: return lab_async_wait<8>();
  }
}
