// BF16, as far as kernels of matrix products use it, from sm_80 on. Facts: CUDA Math API, “Bfloat16 Precision Intrinsics”.
#pragma once

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short lab_bits;
  __nv_bfloat16() = default;
  LAB_DEVICE __nv_bfloat16(float value) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(lab_bits) : "f"(value)); }
  LAB_DEVICE operator float() const { return __uint_as_float(static_cast<unsigned>(lab_bits) << 16); }
};

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  LAB_DEVICE __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
  LAB_DEVICE __nv_bfloat162(const __nv_bfloat162& other) {
    *reinterpret_cast<unsigned*>(this) = *reinterpret_cast<const unsigned*>(&other);
  }
  LAB_DEVICE __nv_bfloat162& operator=(const __nv_bfloat162& other) {
    *reinterpret_cast<unsigned*>(this) = *reinterpret_cast<const unsigned*>(&other);
    return *this;
  }
};

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

LAB_DEVICE float __bfloat162float(__nv_bfloat16 value) { return float(value); }
LAB_DEVICE __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
LAB_DEVICE __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
LAB_DEVICE float2 __bfloat1622float2(__nv_bfloat162 pair) { return float2(float(pair.x), float(pair.y)); }
LAB_DEVICE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
LAB_DEVICE __nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  __nv_bfloat162 pair;
  *reinterpret_cast<unsigned*>(&pair) = bits;
  return pair;
}
LAB_DEVICE __nv_bfloat162 __float22bfloat162_rn(float2 pair) { return __floats2bfloat162_rn(pair.x, pair.y); }
LAB_DEVICE unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.lab_bits; }
LAB_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 value;
  value.lab_bits = bits;
  return value;
}
