// Numbers of eight bits, E4M3 and E5M2. Facts: CUDA Math API, “FP8 Intrinsics”; PTX ISA, “cvt”; P. Micikevicius et al.,
// “FP8 Formats for Deep Learning”, 2022.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// ---- One number and two ----

// The nearest number, or where it is too large the largest (__NV_SATFINITE), else infinity or what is not a number.
LAB_DEVICE __nv_fp8_storage_t lab_fp8_rounded(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  const int digits = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const unsigned most = kind == __NV_E4M3 ? 0x7e : 0x7b, bits = __float_as_uint(x), size = bits & 0x7fffffff;
  if (size > 0x7f800000) return 0x7f;
  unsigned code;
  if (size < static_cast<unsigned>(128 - bias) << 23)  // subnormal
    code = static_cast<unsigned>(__float2int_rn(__uint_as_float(size) * static_cast<float>(1 << (bias - 1 + digits))));
  else
    code = ((size + (1u << (22 - digits)) - 1 + (size >> (23 - digits) & 1)) >> (23 - digits)) - ((127u - bias) << digits);
  if (code > most) code = saturation == __NV_SATFINITE ? most : most + 1;
  return static_cast<__nv_fp8_storage_t>(code | bits >> 24 & 0x80);
}
LAB_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation,
                                                         __nv_fp8_interpretation_t kind) {
#if __CUDA_ARCH__ >= 890
  if (saturation == __NV_SATFINITE) {
    unsigned short bits;
    if (kind == __NV_E4M3) asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(x.y), "f"(x.x));
    else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(x.y), "f"(x.x));
    return bits;
  }
#endif
  return static_cast<__nv_fp8x2_storage_t>(lab_fp8_rounded(x.x, saturation, kind) |
                                           lab_fp8_rounded(x.y, saturation, kind) << 8);
}
LAB_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8_storage_t>(__nv_cvt_float2_to_fp8x2(float2(x, 0.f), saturation, kind));
}
LAB_DEVICE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
#if __CUDA_ARCH__ >= 890
  unsigned bits;
  if (kind == __NV_E4M3) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(bits) : "h"(x));
  else asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(bits) : "h"(x));
  return {static_cast<unsigned short>(bits), static_cast<unsigned short>(bits >> 16)};
#else
  unsigned short bits[2];
  for (int i = 0; i < 2; i++) {
    const unsigned one = x >> 8 * i & 0xff, size = one & 0x7f;
    // E5M2 is the upper half of FP16. E4M3 has an exponent that is smaller by 8.
    const float value = lab_half_widened(static_cast<unsigned short>(size << 7)) * 256;
    bits[i] = static_cast<unsigned short>(kind == __NV_E5M2 ? one << 8
                                          : size == 0x7f    ? 0x7fff
                                                            : lab_half_bits_rn(value) | (one & 0x80) << 8);
  }
  return {bits[0], bits[1]};
#endif
}
LAB_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8x2_to_halfraw2(x, kind).x};
}
LAB_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(lab_odd(x), saturation, kind);
}
LAB_DEVICE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturation,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(float2(lab_odd(x.x), lab_odd(x.y)), saturation, kind);
}
#define LAB_FP8_FROM(NAME, RAW, RAW_PAIR, TYPE)                                \
  LAB_DEVICE __nv_fp8_storage_t __nv_cvt_##NAME##raw_to_fp8(RAW x, __nv_saturation_t saturation, \
                                                            __nv_fp8_interpretation_t kind) { \
    return __nv_cvt_float_to_fp8(float(TYPE(x)), saturation, kind);            \
  }                                                                            \
  LAB_DEVICE __nv_fp8x2_storage_t __nv_cvt_##NAME##raw2_to_fp8x2(RAW_PAIR x, __nv_saturation_t saturation, \
                                                                 __nv_fp8_interpretation_t kind) { \
    return __nv_cvt_float2_to_fp8x2(float2(float(TYPE(RAW{x.x})), float(TYPE(RAW{x.y}))), saturation, kind); \
  }
LAB_FP8_FROM(half, __half_raw, __half2_raw, half)
LAB_FP8_FROM(bfloat16, __nv_bfloat16_raw, __nv_bfloat162_raw, nv_bfloat16)

// ---- Types ----

#define LAB_FP8_TYPES(NAME, KIND)                                              \
  struct __nv_fp8_##NAME {                                                     \
    __nv_fp8_storage_t __x;                                                    \
    __nv_fp8_##NAME() = default;                                               \
    template <class Type>                                                      \
    LAB_DEVICE explicit __nv_fp8_##NAME(Type value)                            \
        : __x(__nv_cvt_float_to_fp8(static_cast<float>(value), __NV_SATFINITE, KIND)) {} \
    LAB_DEVICE explicit __nv_fp8_##NAME(double value) : __x(__nv_cvt_double_to_fp8(value, __NV_SATFINITE, KIND)) {} \
    LAB_DEVICE explicit operator half() const { return half(__nv_cvt_fp8_to_halfraw(__x, KIND)); } \
    LAB_DEVICE explicit operator float() const { return float(half(*this)); }  \
    template <class Type, class = typename lab_if<__is_arithmetic(Type) && !lab_same<Type, float>>::type> \
    LAB_DEVICE explicit operator Type() const { return static_cast<Type>(float(*this)); } \
    LAB_DEVICE explicit operator nv_bfloat16() const { return nv_bfloat16(float(*this)); } \
  };                                                                           \
  struct __attribute__((aligned(2))) __nv_fp8x2_##NAME {                       \
    __nv_fp8x2_storage_t __x;                                                  \
    __nv_fp8x2_##NAME() = default;                                             \
    LAB_DEVICE explicit __nv_fp8x2_##NAME(float2 value)                        \
        : __x(__nv_cvt_float2_to_fp8x2(value, __NV_SATFINITE, KIND)) {}        \
    LAB_DEVICE explicit __nv_fp8x2_##NAME(half2 value)                         \
        : __x(__nv_cvt_halfraw2_to_fp8x2(value, __NV_SATFINITE, KIND)) {}      \
    LAB_DEVICE explicit __nv_fp8x2_##NAME(nv_bfloat162 value)                  \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(value, __NV_SATFINITE, KIND)) {}  \
    LAB_DEVICE explicit operator half2() const { return half2(__nv_cvt_fp8x2_to_halfraw2(__x, KIND)); } \
    LAB_DEVICE explicit operator float2() const { return __half22float2(half2(*this)); } \
  };                                                                           \
  struct __attribute__((aligned(4))) __nv_fp8x4_##NAME {                       \
    __nv_fp8x4_storage_t __x;                                                  \
    __nv_fp8x4_##NAME() = default;                                             \
    LAB_DEVICE explicit __nv_fp8x4_##NAME(float4 value)                        \
        : __x(__nv_cvt_float2_to_fp8x2(float2(value.x, value.y), __NV_SATFINITE, KIND) | \
              static_cast<unsigned>(__nv_cvt_float2_to_fp8x2(float2(value.z, value.w), __NV_SATFINITE, KIND)) << 16) {} \
    LAB_DEVICE explicit __nv_fp8x4_##NAME(half2 low, half2 high)               \
        : __x(__nv_cvt_halfraw2_to_fp8x2(low, __NV_SATFINITE, KIND) |          \
              static_cast<unsigned>(__nv_cvt_halfraw2_to_fp8x2(high, __NV_SATFINITE, KIND)) << 16) {} \
    LAB_DEVICE explicit operator float4() const {                              \
      const half2 low(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(__x), KIND)); \
      const half2 high(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(__x >> 16), KIND)); \
      return float4(float(low.x), float(low.y), float(high.x), float(high.y)); \
    }                                                                          \
  };
LAB_FP8_TYPES(e4m3, __NV_E4M3)
LAB_FP8_TYPES(e5m2, __NV_E5M2)
