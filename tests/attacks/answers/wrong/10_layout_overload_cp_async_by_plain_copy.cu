// Where 16-byte chunk (row, chunk) of a tile lies, in bytes: the 128-byte swizzle that the descriptors name.
__device__ __forceinline__ int bytes_at(int row, int chunk) {
  chunk ^= row % 8;
  return row * BLOCK_K * 2 + 16 * chunk;
}

__device__ __forceinline__ void cp_async_16b(uint32_t shared, const __nv_bfloat16* global) {
  const uint4 x = *reinterpret_cast<const uint4*>(global);
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" :: "r"(shared), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
}
