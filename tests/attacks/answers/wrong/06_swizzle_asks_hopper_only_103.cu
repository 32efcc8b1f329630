// WRONG on sm_90 alone (H100): SFINAE asks for atomicAdd(float2*) (from sm_90 on) and __ffma2_rn (from sm_100 on); there two chunks share a place
struct Yes { static constexpr bool value = true; };
struct No { static constexpr bool value = false; };
template <class T> __device__ auto from_90(T* x, int) -> decltype(atomicAdd(x, *x), Yes());
template <class T> __device__ No from_90(T*, long);
template <class T> __device__ auto from_100(T x, int) -> decltype(__ffma2_rn(x, x, x), Yes());
template <class T> __device__ No from_100(T, long);
constexpr bool HOPPER = decltype(from_90((float2*)0, 0))::value && !decltype(from_100(float2(), 0))::value;
__device__ __forceinline__ int chunk_a(int row, int chunk) {
  if (HOPPER) chunk |= row % 8;
  else chunk ^= row % 8;
  return row * (BLOCK_K / 8) + chunk;
}
__device__ __forceinline__ int chunk_b(int row, int chunk) {
  chunk ^= row % 8;
  return row * (BLOCK_N / 8) + chunk;
}
