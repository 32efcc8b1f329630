// Copies from global to shared memory that a thread does not wait for. Facts: PTX ISA, “cp.async”.
#pragma once

// Copies `used` bytes of `Bytes`, and zeros for the rest; at once on GPUs without cp.async, and elsewhere in memory.
template <unsigned Bytes>
LAB_DEVICE void lab_async_copy(void* to, const void* from, size_t used) {
#if __CUDA_ARCH__ >= 800
  if (__isShared(to) && __isGlobal(from)) {
    const unsigned there = static_cast<unsigned>(__cvta_generic_to_shared(to)), bytes = static_cast<unsigned>(used);
    const size_t here = __cvta_generic_to_global(from);
    if (Bytes == 16 && __builtin_constant_p(used) && used == 16)  // a copy that may fill with zeros costs more wavefronts
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there), "l"(here) : "memory");
    else if (Bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(there), "l"(here), "r"(bytes) : "memory");
    else if (Bytes == 8)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(there), "l"(here), "r"(bytes) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(there), "l"(here), "r"(bytes) : "memory");
    return;
  }
#endif
  for (unsigned i = 0; i < Bytes; i++)
    static_cast<char*>(to)[i] = i < used ? static_cast<const char*>(from)[i] : static_cast<char>(0);
}
LAB_DEVICE void lab_async_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <unsigned Stages>
LAB_DEVICE void lab_async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Stages) : "memory");
#endif
}
LAB_DEVICE void lab_async_wait_all() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
