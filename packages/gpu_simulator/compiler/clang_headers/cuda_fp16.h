// FP16. Facts: CUDA Math API, “Half Precision Intrinsics”; PTX ISA, “Half Precision Floating Point Instructions”.
#pragma once

#include "builtin/sixteen_bits.h"

LAB_TO_REAL(lab_half_bits, float, unsigned short, "f16.f32", "f", "h")
LAB_CONVERT(lab_half_bits_rn, double, unsigned short, "rn.f16.f64", "d", "h")
LAB_CONVERT(lab_half_bits_rn, int, unsigned short, "rn.f16.s32", "r", "h")
LAB_CONVERT(lab_half_bits_rn, unsigned, unsigned short, "rn.f16.u32", "r", "h")
LAB_CONVERT(lab_half_bits_rn, long long, unsigned short, "rn.f16.s64", "l", "h")
LAB_CONVERT(lab_half_bits_rn, unsigned long long, unsigned short, "rn.f16.u64", "l", "h")
LAB_DEVICE float lab_half_widened(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

LAB_NUMBER(__half, __half2, __half_raw, __half2_raw, lab_half_bits_rn, lab_half_widened)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
LAB_BOTH constexpr unsigned short lab_infinite(half) { return 0x7c00; }
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)

// ---- Conversions ----

LAB_DEVICE float __half2float(half value) { return float(value); }
LAB_DEVICE half __float2half(float value) { return half(value); }
LAB_DEVICE half __float2half_rn(float value) { return half(value); }
LAB_DEVICE half __float2half_rz(float value) { return half(__half_raw{lab_half_bits_rz(value)}); }
LAB_DEVICE half __float2half_ru(float value) { return half(__half_raw{lab_half_bits_ru(value)}); }
LAB_DEVICE half __float2half_rd(float value) { return half(__half_raw{lab_half_bits_rd(value)}); }
LAB_DEVICE half __double2half(double value) { return half(value); }
LAB_16_PAIRS(half, half2, half, half2, halves)
LAB_16_WHOLE_NUMBERS(half, half)
LAB_DEVICE float2 __half22float2(half2 pair) { return float2(float(pair.x), float(pair.y)); }
LAB_DEVICE half2 __floats2half2_rn(float low, float high) {
#if __CUDA_ARCH__ >= 800  // one instruction converts both
  unsigned bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return lab_pair(half2(), bits);
#else
  return half2(half(low), half(high));
#endif
}
LAB_DEVICE half2 __float22half2_rn(float2 pair) { return __floats2half2_rn(pair.x, pair.y); }
LAB_DEVICE half2 __float2half2_rn(float value) { return __floats2half2_rn(value, value); }

// ---- Arithmetic ----

LAB_16_PTX_2(__hadd, __hadd2, half, half2, "add.f16", "add.f16x2")
LAB_16_PTX_2(__hsub, __hsub2, half, half2, "sub.f16", "sub.f16x2")
LAB_16_PTX_2(__hmul, __hmul2, half, half2, "mul.f16", "mul.f16x2")
LAB_16_PTX_2(__hadd_rn, __hadd2_rn, half, half2, "add.rn.f16", "add.rn.f16x2")
LAB_16_PTX_2(__hsub_rn, __hsub2_rn, half, half2, "sub.rn.f16", "sub.rn.f16x2")
LAB_16_PTX_2(__hmul_rn, __hmul2_rn, half, half2, "mul.rn.f16", "mul.rn.f16x2")
LAB_16_PTX_3(__hfma, __hfma2, half, half2, "fma.rn.f16", "fma.rn.f16x2")
LAB_16_PTX_1(__hneg, __hneg2, half, half2, "neg.f16", "neg.f16x2")
LAB_16_PTX_1(__habs, __habs2, half, half2, "abs.f16", "abs.f16x2")
#if __CUDA_ARCH__ >= 800
LAB_16_PTX_2(__hmax, __hmax2, half, half2, "max.f16", "max.f16x2")
LAB_16_PTX_2(__hmin, __hmin2, half, half2, "min.f16", "min.f16x2")
LAB_16_PTX_3(__hfma_relu, __hfma2_relu, half, half2, "fma.rn.relu.f16", "fma.rn.relu.f16x2")
#else
LAB_16_FLOAT_2(__hmax, __hmax2, half, half2, fmaxf(a, b))
LAB_16_FLOAT_2(__hmin, __hmin2, half, half2, fminf(a, b))
#endif
LAB_16_FUNCTIONS(half, half2)
LAB_16_COMPARISONS(half, half2)
LAB_16_OPERATORS(half, half2)
LAB_16_IN_WARPS_AND_MEMORY(half, half2)
LAB_16_ATOMIC_ADD(half, half2, "noftz.f16")
