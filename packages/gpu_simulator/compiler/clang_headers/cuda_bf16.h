// BF16. Facts: CUDA Math API, “Bfloat16 Precision Intrinsics”; PTX ISA.
#pragma once

#include "builtin/sixteen_bits.h"

LAB_DEVICE unsigned short lab_bfloat16_bits(float value) {
#if __CUDA_ARCH__ >= 800
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  const unsigned whole = __float_as_uint(value);
  return static_cast<unsigned short>(value != value ? 0x7fff : (whole + 0x7fff + (whole >> 16 & 1)) >> 16);
#endif
}
template <class Type>
LAB_DEVICE unsigned short lab_bfloat16_bits(Type value) { return lab_bfloat16_bits(lab_odd(value)); }
LAB_BOTH float lab_bfloat16_widened(unsigned short bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }

LAB_NUMBER(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw, lab_bfloat16_bits, lab_bfloat16_widened)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
LAB_BOTH constexpr unsigned short lab_infinite(nv_bfloat16) { return 0x7f80; }
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)

// ---- Conversions ----

LAB_DEVICE float __bfloat162float(nv_bfloat16 value) { return float(value); }
LAB_DEVICE nv_bfloat16 __float2bfloat16(float value) { return nv_bfloat16(value); }
LAB_DEVICE nv_bfloat16 __float2bfloat16_rn(float value) { return nv_bfloat16(value); }
// The number next to a float on the side of 0, or beyond it if the float is none.
LAB_DEVICE nv_bfloat16 lab_bfloat16_next(float value, bool beyond) {
  const unsigned bits = __float_as_uint(value), whole = (bits >> 16) + (beyond && bits & 0xffff ? 1 : 0);
  return nv_bfloat16(__nv_bfloat16_raw{static_cast<unsigned short>(value != value ? 0x7fff : whole)});
}
LAB_DEVICE nv_bfloat16 __float2bfloat16_rz(float value) { return lab_bfloat16_next(value, false); }
LAB_DEVICE nv_bfloat16 __float2bfloat16_ru(float value) { return lab_bfloat16_next(value, value > 0); }
LAB_DEVICE nv_bfloat16 __float2bfloat16_rd(float value) { return lab_bfloat16_next(value, value < 0); }
LAB_DEVICE nv_bfloat16 __double2bfloat16(double value) { return nv_bfloat16(value); }
LAB_16_PAIRS(nv_bfloat16, nv_bfloat162, bfloat16, bfloat162, halves)
LAB_16_WHOLE_NUMBERS(nv_bfloat16, bfloat16)
LAB_DEVICE float2 __bfloat1622float2(nv_bfloat162 pair) { return float2(float(pair.x), float(pair.y)); }
LAB_DEVICE nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
#if __CUDA_ARCH__ >= 800  // one instruction converts both
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return lab_pair(nv_bfloat162(), bits);
#else
  return nv_bfloat162(nv_bfloat16(low), nv_bfloat16(high));
#endif
}
LAB_DEVICE nv_bfloat162 __float22bfloat162_rn(float2 pair) { return __floats2bfloat162_rn(pair.x, pair.y); }
LAB_DEVICE nv_bfloat162 __float2bfloat162_rn(float value) { return __floats2bfloat162_rn(value, value); }

// ---- Arithmetic ----

#if __CUDA_ARCH__ >= 800
LAB_16_PTX_3(__hfma, __hfma2, nv_bfloat16, nv_bfloat162, "fma.rn.bf16", "fma.rn.bf16x2")
LAB_16_PTX_1(__hneg, __hneg2, nv_bfloat16, nv_bfloat162, "neg.bf16", "neg.bf16x2")
LAB_16_PTX_1(__habs, __habs2, nv_bfloat16, nv_bfloat162, "abs.bf16", "abs.bf16x2")
LAB_16_PTX_2(__hmax, __hmax2, nv_bfloat16, nv_bfloat162, "max.bf16", "max.bf16x2")
LAB_16_PTX_2(__hmin, __hmin2, nv_bfloat16, nv_bfloat162, "min.bf16", "min.bf16x2")
LAB_16_PTX_3(__hfma_relu, __hfma2_relu, nv_bfloat16, nv_bfloat162, "fma.rn.relu.bf16", "fma.rn.relu.bf16x2")
#else
LAB_16_FLOAT_3(__hfma, __hfma2, nv_bfloat16, nv_bfloat162, fmaf(a, b, c))
LAB_16_FLOAT_1(__hneg, __hneg2, nv_bfloat16, nv_bfloat162, -a)
LAB_16_FLOAT_1(__habs, __habs2, nv_bfloat16, nv_bfloat162, fabsf(a))
LAB_16_FLOAT_2(__hmax, __hmax2, nv_bfloat16, nv_bfloat162, fmaxf(a, b))
LAB_16_FLOAT_2(__hmin, __hmin2, nv_bfloat16, nv_bfloat162, fminf(a, b))
#endif
#if __CUDA_ARCH__ >= 900
LAB_16_PTX_2(__hadd, __hadd2, nv_bfloat16, nv_bfloat162, "add.bf16", "add.bf16x2")
LAB_16_PTX_2(__hsub, __hsub2, nv_bfloat16, nv_bfloat162, "sub.bf16", "sub.bf16x2")
LAB_16_PTX_2(__hmul, __hmul2, nv_bfloat16, nv_bfloat162, "mul.bf16", "mul.bf16x2")
LAB_16_PTX_2(__hadd_rn, __hadd2_rn, nv_bfloat16, nv_bfloat162, "add.rn.bf16", "add.rn.bf16x2")
LAB_16_PTX_2(__hsub_rn, __hsub2_rn, nv_bfloat16, nv_bfloat162, "sub.rn.bf16", "sub.rn.bf16x2")
LAB_16_PTX_2(__hmul_rn, __hmul2_rn, nv_bfloat16, nv_bfloat162, "mul.rn.bf16", "mul.rn.bf16x2")
#else  // before, the only arithmetic is a · b + c
#define LAB_BY_FMA(NAME, NAME_PAIR, A, B, C)                                   \
  LAB_DEVICE nv_bfloat16 NAME(nv_bfloat16 a, nv_bfloat16 b) {                  \
    const nv_bfloat16 one(__nv_bfloat16_raw{0x3f80}), less(__nv_bfloat16_raw{0xbf80}), zero(__nv_bfloat16_raw{0x8000}); \
    return __hfma(A, B, C);                                                    \
  }                                                                            \
  LAB_DEVICE nv_bfloat162 NAME_PAIR(nv_bfloat162 a, nv_bfloat162 b) {          \
    const nv_bfloat162 one(__nv_bfloat162_raw{0x3f80, 0x3f80}), less(__nv_bfloat162_raw{0xbf80, 0xbf80}); \
    const nv_bfloat162 zero(__nv_bfloat162_raw{0x8000, 0x8000});               \
    return __hfma2(A, B, C);                                                   \
  }
LAB_BY_FMA(__hadd, __hadd2, a, one, b)
LAB_BY_FMA(__hsub, __hsub2, b, less, a)
LAB_BY_FMA(__hmul, __hmul2, a, b, zero)
LAB_BY_FMA(__hadd_rn, __hadd2_rn, a, one, b)
LAB_BY_FMA(__hsub_rn, __hsub2_rn, b, less, a)
LAB_BY_FMA(__hmul_rn, __hmul2_rn, a, b, zero)
#endif
LAB_16_FUNCTIONS(nv_bfloat16, nv_bfloat162)
LAB_16_COMPARISONS(nv_bfloat16, nv_bfloat162)
LAB_16_OPERATORS(nv_bfloat16, nv_bfloat162)
LAB_16_IN_WARPS_AND_MEMORY(nv_bfloat16, nv_bfloat162)
LAB_16_ATOMIC_ADD(nv_bfloat16, nv_bfloat162, "noftz.bf16")
