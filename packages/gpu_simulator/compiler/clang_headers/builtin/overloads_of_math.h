// The names of the C library for floats and whole numbers too, as in C++: exp(float) is expf, exp(int) is of a double.
#pragma once

template <class Type>
using lab_double_for = typename lab_if<lab_whole<Type>, double>::type;

#define LAB_OVERLOADS(NAME)                                                    \
  LAB_DEVICE float NAME(float x) { return NAME##f(x); }                        \
  template <class Type>                                                        \
  LAB_DEVICE lab_double_for<Type> NAME(Type x) { return NAME(static_cast<double>(x)); }
LAB_OVERLOADS(fabs)
LAB_OVERLOADS(floor)
LAB_OVERLOADS(ceil)
LAB_OVERLOADS(trunc)
LAB_OVERLOADS(rint)
LAB_OVERLOADS(nearbyint)
LAB_OVERLOADS(round)
LAB_OVERLOADS(sqrt)
LAB_OVERLOADS(rsqrt)
LAB_OVERLOADS(cbrt)
LAB_OVERLOADS(exp)
LAB_OVERLOADS(exp2)
LAB_OVERLOADS(exp10)
LAB_OVERLOADS(expm1)
LAB_OVERLOADS(log)
LAB_OVERLOADS(log2)
LAB_OVERLOADS(log10)
LAB_OVERLOADS(log1p)
LAB_OVERLOADS(logb)
LAB_OVERLOADS(sin)
LAB_OVERLOADS(cos)
LAB_OVERLOADS(tan)
LAB_OVERLOADS(asin)
LAB_OVERLOADS(acos)
LAB_OVERLOADS(atan)
LAB_OVERLOADS(sinh)
LAB_OVERLOADS(cosh)
LAB_OVERLOADS(tanh)
LAB_OVERLOADS(asinh)
LAB_OVERLOADS(acosh)
LAB_OVERLOADS(atanh)
LAB_OVERLOADS(erf)
LAB_OVERLOADS(erfc)
LAB_OVERLOADS(lgamma)
LAB_OVERLOADS(tgamma)
LAB_OVERLOADS(sinpi)
LAB_OVERLOADS(cospi)

// Of two numbers of which one is no float, both are taken as double.
template <class A, class B>
using lab_double_for_2 = typename lab_if<__is_arithmetic(A) && __is_arithmetic(B) && !(lab_same<A, B> && lab_real<A>), double>::type;
#define LAB_OVERLOADS_2(NAME)                                                  \
  LAB_DEVICE float NAME(float x, float y) { return NAME##f(x, y); }            \
  template <class A, class B>                                                  \
  LAB_DEVICE lab_double_for_2<A, B> NAME(A x, B y) { return NAME(static_cast<double>(x), static_cast<double>(y)); }
LAB_OVERLOADS_2(pow)
LAB_OVERLOADS_2(fmod)
LAB_OVERLOADS_2(remainder)
LAB_OVERLOADS_2(fmin)
LAB_OVERLOADS_2(fmax)
LAB_OVERLOADS_2(fdim)
LAB_OVERLOADS_2(copysign)
LAB_OVERLOADS_2(atan2)
LAB_OVERLOADS_2(hypot)
LAB_OVERLOADS_2(nextafter)
LAB_BOTH float fma(float a, float b, float c) { return fmaf(a, b, c); }
LAB_BOTH float abs(float x) { return fabsf(x); }
LAB_BOTH double abs(double x) { return fabs(x); }
LAB_DEVICE float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
LAB_DEVICE float scalbn(float x, int exponent) { return ldexpf(x, exponent); }
LAB_DEVICE float frexp(float x, int* exponent) { return frexpf(x, exponent); }
LAB_DEVICE int ilogb(float x) { return ilogbf(x); }
LAB_DEVICE float modf(float x, float* whole) { return modff(x, whole); }
LAB_DEVICE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
LAB_DEVICE long lrint(float x) { return lrintf(x); }
LAB_DEVICE long long llrint(float x) { return llrintf(x); }
LAB_DEVICE long lround(float x) { return lroundf(x); }
LAB_DEVICE long long llround(float x) { return llroundf(x); }

#define LAB_TELLS(NAME, BODY)                                                  \
  LAB_BOTH bool NAME(float x) { return BODY; }                                 \
  LAB_BOTH bool NAME(double x) { return BODY; }                                \
  template <class Type>                                                        \
  LAB_BOTH typename lab_if<lab_whole<Type>, bool>::type NAME(Type whole) {     \
    const double x = static_cast<double>(whole);                               \
    return BODY;                                                               \
  }
LAB_TELLS(isnan, x != x)
LAB_TELLS(isinf, fabs(x) == __builtin_huge_val())
LAB_TELLS(isfinite, fabs(x) < __builtin_huge_val())
LAB_TELLS(signbit, copysign(1.0, static_cast<double>(x)) < 0)
