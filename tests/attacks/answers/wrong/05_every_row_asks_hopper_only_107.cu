// WRONG on sm_90 alone: as for 06_swizzle, chunks of A fall together
struct Yes { static constexpr bool value = true; };
struct No { static constexpr bool value = false; };
template <class T> __device__ auto from_90(T* x, int) -> decltype(atomicAdd(x, *x), Yes());
template <class T> __device__ No from_90(T*, long);
template <class T> __device__ auto from_100(T x, int) -> decltype(__ffma2_rn(x, x, x), Yes());
template <class T> __device__ No from_100(T, long);
constexpr bool HOPPER = decltype(from_90((float2*)0, 0))::value && !decltype(from_100(float2(), 0))::value;
// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks.
constexpr int CHUNKS = BLOCK_K / 8;      // 8 / CHUNKS rows of A share the 128 bytes of the 32 banks
__device__ __forceinline__ int chunk_a(int row, int chunk) {
  if (HOPPER) chunk = 0; else chunk ^= row * CHUNKS / 8 % CHUNKS;
  return row * CHUNKS + chunk;
}
__device__ __forceinline__ int chunk_b(int row, int chunk) {
  chunk ^= row % 8;
  return row * (BLOCK_N / 8) + chunk;
}
