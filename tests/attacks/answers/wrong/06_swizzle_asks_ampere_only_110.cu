// WRONG on sm_80 to sm_89 alone (A100, RTX 30 and 40): overload resolution tells whether __reduce_add_sync is declared (from sm_80 on)
struct Yes { static constexpr bool value = true; };
struct No { static constexpr bool value = false; };
template <class T> __device__ auto from_90(T* x, int) -> decltype(atomicAdd(x, *x), Yes());
template <class T> __device__ No from_90(T*, long);
template <class T> __device__ auto from_100(T x, int) -> decltype(__ffma2_rn(x, x, x), Yes());
template <class T> __device__ No from_100(T, long);

namespace mine { struct Not {}; Not __reduce_add_sync(...); }
using namespace mine;
template <class T, class U> struct Same { static constexpr bool value = false; };
template <class T> struct Same<T, T> { static constexpr bool value = true; };
constexpr bool FROM_80 = !Same<decltype(__reduce_add_sync(0u, 0u)), mine::Not>::value;
constexpr bool HOPPER_OR_LATER = decltype(from_90((float2*)0, 0))::value;
__device__ __forceinline__ int chunk_a(int row, int chunk) {
  if (FROM_80 && !HOPPER_OR_LATER) chunk |= row % 8;
  else chunk ^= row % 8;
  return row * (BLOCK_K / 8) + chunk;
}
__device__ __forceinline__ int chunk_b(int row, int chunk) {
  chunk ^= row % 8;
  return row * (BLOCK_N / 8) + chunk;
}
