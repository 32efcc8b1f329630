// Arithmetic whose name says how it rounds, and the fast functions, which are one or two instructions of the hardware.
// Facts: CUDA Math API, “Single Precision Intrinsics”, “Double Precision Intrinsics”; PTX ISA.
#pragma once

#define LAB_1(NAME, TYPE, PTX, LETTER)                                         \
  LAB_DEVICE TYPE NAME(TYPE a) {                                               \
    TYPE result;                                                               \
    asm(PTX " %0, %1;" : "=" LETTER(result) : LETTER(a));                      \
    return result;                                                             \
  }
#define LAB_2(NAME, TYPE, PTX, LETTER)                                         \
  LAB_DEVICE TYPE NAME(TYPE a, TYPE b) {                                       \
    TYPE result;                                                               \
    asm(PTX " %0, %1, %2;" : "=" LETTER(result) : LETTER(a), LETTER(b));       \
    return result;                                                             \
  }
#define LAB_3(NAME, TYPE, PTX, LETTER)                                         \
  LAB_DEVICE TYPE NAME(TYPE a, TYPE b, TYPE c) {                               \
    TYPE result;                                                               \
    asm(PTX " %0, %1, %2, %3;" : "=" LETTER(result) : LETTER(a), LETTER(b), LETTER(c)); \
    return result;                                                             \
  }
#define LAB_ROUNDED(SUFFIX, PTX)                                               \
  LAB_2(__fadd_##SUFFIX, float, "add." PTX ".f32", "f")                        \
  LAB_2(__fsub_##SUFFIX, float, "sub." PTX ".f32", "f")                        \
  LAB_2(__fmul_##SUFFIX, float, "mul." PTX ".f32", "f")                        \
  LAB_2(__fdiv_##SUFFIX, float, "div." PTX ".f32", "f")                        \
  LAB_3(__fmaf_##SUFFIX, float, "fma." PTX ".f32", "f")                        \
  LAB_1(__frcp_##SUFFIX, float, "rcp." PTX ".f32", "f")                        \
  LAB_1(__fsqrt_##SUFFIX, float, "sqrt." PTX ".f32", "f")                      \
  LAB_2(__dadd_##SUFFIX, double, "add." PTX ".f64", "d")                       \
  LAB_2(__dsub_##SUFFIX, double, "sub." PTX ".f64", "d")                       \
  LAB_2(__dmul_##SUFFIX, double, "mul." PTX ".f64", "d")                       \
  LAB_2(__ddiv_##SUFFIX, double, "div." PTX ".f64", "d")                       \
  LAB_3(__fma_##SUFFIX, double, "fma." PTX ".f64", "d")                        \
  LAB_1(__drcp_##SUFFIX, double, "rcp." PTX ".f64", "d")                       \
  LAB_1(__dsqrt_##SUFFIX, double, "sqrt." PTX ".f64", "d")
LAB_ROUNDED(rn, "rn")
LAB_ROUNDED(rz, "rz")
LAB_ROUNDED(ru, "rp")
LAB_ROUNDED(rd, "rm")

LAB_1(__frsqrt_rn, float, "rsqrt.approx.f32", "f")
LAB_1(__saturatef, float, "cvt.sat.f32.f32", "f")
LAB_2(__fdividef, float, "div.approx.f32", "f")
LAB_1(lab_exp2_fast, float, "ex2.approx.f32", "f")
LAB_1(__log2f, float, "lg2.approx.f32", "f")
LAB_1(__sinf, float, "sin.approx.f32", "f")
LAB_1(__cosf, float, "cos.approx.f32", "f")
#if __CUDA_ARCH__ >= 750
LAB_1(__tanhf, float, "tanh.approx.f32", "f")
#endif
LAB_BOTH float fdividef(float a, float b) { return a / b; }

constexpr float LAB_LOG2_E = 1.44269504f, LAB_LOG2_10 = 3.32192809f, LAB_LN_2 = 0.693147181f, LAB_LOG10_2 = 0.301029996f;
LAB_DEVICE float __expf(float x) { return lab_exp2_fast(x * LAB_LOG2_E); }
LAB_DEVICE float __exp10f(float x) { return lab_exp2_fast(x * LAB_LOG2_10); }
LAB_DEVICE float __logf(float x) { return __log2f(x) * LAB_LN_2; }
LAB_DEVICE float __log10f(float x) { return __log2f(x) * LAB_LOG10_2; }
LAB_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
LAB_DEVICE float __powf(float x, float y) { return lab_exp2_fast(y * __log2f(x)); }
LAB_DEVICE void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
