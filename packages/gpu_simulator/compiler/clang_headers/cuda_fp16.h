// FP16, as far as kernels of matrix products use it. Facts: CUDA Math API, “Half Precision Intrinsics”; PTX ISA, cvt.
#pragma once

struct __attribute__((aligned(2))) __half {
  unsigned short lab_bits;
  __half() = default;
  LAB_DEVICE __half(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(lab_bits) : "f"(value)); }
  LAB_DEVICE operator float() const {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(lab_bits));
    return value;
  }
};

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  LAB_DEVICE __half2(__half x, __half y) : x(x), y(y) {}
  LAB_DEVICE __half2(const __half2& other) { *reinterpret_cast<unsigned*>(this) = *reinterpret_cast<const unsigned*>(&other); }
  LAB_DEVICE __half2& operator=(const __half2& other) {
    *reinterpret_cast<unsigned*>(this) = *reinterpret_cast<const unsigned*>(&other);
    return *this;
  }
};

typedef __half half;
typedef __half2 half2;

// ---- Conversions ----

LAB_DEVICE float __half2float(half value) { return float(value); }
LAB_DEVICE half __float2half(float value) { return half(value); }
LAB_DEVICE half __float2half_rn(float value) { return half(value); }
LAB_DEVICE half2 __halves2half2(half low, half high) { return half2(low, high); }
LAB_DEVICE half2 make_half2(half low, half high) { return half2(low, high); }
LAB_DEVICE half __low2half(half2 pair) { return pair.x; }
LAB_DEVICE half __high2half(half2 pair) { return pair.y; }
LAB_DEVICE float __low2float(half2 pair) { return float(pair.x); }
LAB_DEVICE float __high2float(half2 pair) { return float(pair.y); }
LAB_DEVICE float2 __half22float2(half2 pair) { return float2(float(pair.x), float(pair.y)); }

LAB_DEVICE half2 __floats2half2_rn(float low, float high) {
#if __CUDA_ARCH__ >= 800  // one instruction converts both
  unsigned bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  half2 pair;
  *reinterpret_cast<unsigned*>(&pair) = bits;
  return pair;
#else
  return half2(half(low), half(high));
#endif
}
LAB_DEVICE half2 __float22half2_rn(float2 pair) { return __floats2half2_rn(pair.x, pair.y); }
LAB_DEVICE half2 __float2half2_rn(float value) { return __floats2half2_rn(value, value); }
LAB_DEVICE unsigned short __half_as_ushort(half value) { return value.lab_bits; }
LAB_DEVICE half __ushort_as_half(unsigned short bits) {
  half value;
  value.lab_bits = bits;
  return value;
}

// ---- Arithmetic ----

#define LAB_HALF(NAME, OPERATION)                                              \
  LAB_DEVICE half NAME(half a, half b) {                                       \
    half result;                                                               \
    asm(OPERATION ".f16 %0, %1, %2;" : "=h"(result.lab_bits) : "h"(a.lab_bits), "h"(b.lab_bits)); \
    return result;                                                             \
  }
LAB_HALF(__hadd, "add")
LAB_HALF(__hsub, "sub")
LAB_HALF(__hmul, "mul")
LAB_HALF(operator+, "add")
LAB_HALF(operator-, "sub")
LAB_HALF(operator*, "mul")
LAB_DEVICE half __hfma(half a, half b, half c) {
  half result;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result.lab_bits) : "h"(a.lab_bits), "h"(b.lab_bits), "h"(c.lab_bits));
  return result;
}

#define LAB_HALF2(NAME, OPERATION)                                             \
  LAB_DEVICE half2 NAME(half2 a, half2 b) {                                    \
    half2 result;                                                              \
    asm(OPERATION ".f16x2 %0, %1, %2;"                                         \
        : "=r"(*reinterpret_cast<unsigned*>(&result))                          \
        : "r"(*reinterpret_cast<unsigned*>(&a)), "r"(*reinterpret_cast<unsigned*>(&b))); \
    return result;                                                             \
  }
LAB_HALF2(__hadd2, "add")
LAB_HALF2(__hsub2, "sub")
LAB_HALF2(__hmul2, "mul")
LAB_DEVICE half2 __hfma2(half2 a, half2 b, half2 c) {
  half2 result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;"
      : "=r"(*reinterpret_cast<unsigned*>(&result))
      : "r"(*reinterpret_cast<unsigned*>(&a)), "r"(*reinterpret_cast<unsigned*>(&b)), "r"(*reinterpret_cast<unsigned*>(&c)));
  return result;
}
