// Functions of a float. Those that kernels use most are computed in float; the others in double, and rounded.
// The polynomials without a name are fits to the function by least squares, with an error below 3e-9.
#pragma once

// ---- Signs, whole parts, roots ----

LAB_BOTH float fabsf(float x) { return __builtin_fabsf(x); }
LAB_BOTH float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LAB_BOTH float fminf(float a, float b) { return __builtin_fminf(a, b); }
LAB_BOTH float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
LAB_BOTH float fdimf(float a, float b) { return a <= b ? 0 : a - b; }
LAB_BOTH float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
LAB_BOTH float floorf(float x) { return __builtin_floorf(x); }
LAB_BOTH float ceilf(float x) { return __builtin_ceilf(x); }
LAB_BOTH float truncf(float x) { return __builtin_truncf(x); }
LAB_BOTH float rintf(float x) { return __builtin_rintf(x); }
LAB_BOTH float nearbyintf(float x) { return __builtin_rintf(x); }
LAB_BOTH float roundf(float x) { return truncf(x + copysignf(0x1.fffffep-2f, x)); }
LAB_DEVICE long lrintf(float x) { return __float2ll_rn(x); }
LAB_DEVICE long long llrintf(float x) { return __float2ll_rn(x); }
LAB_DEVICE long lroundf(float x) { return __float2ll_rz(roundf(x)); }
LAB_DEVICE long long llroundf(float x) { return __float2ll_rz(roundf(x)); }
LAB_DEVICE float sqrtf(float x) { return __fsqrt_rn(x); }
LAB_DEVICE float rsqrtf(float x) { return __frsqrt_rn(x); }

// ---- Powers and logarithms ----

LAB_DEVICE float exp2f(float x) { return lab_exp2_fast(x); }
// 2^k · 2^f, where f is from -0.5 to 0.5 and k is divided in two, so that neither power is too large. Of an infinite x,
// or a large one, k is limited, and f alone makes the result 0 or infinite.
LAB_DEVICE float expf(float x) {
  const float k = rintf(fminf(fmaxf(x * LAB_LOG2_E, -300.f), 300.f)), half = floorf(0.5f * k);
  const float rest = fmaf(-k, 1.42860677e-6f, fmaf(-k, 0.693145752f, x));
  return lab_exp2_fast(rest * LAB_LOG2_E) * lab_exp2_fast(half) * lab_exp2_fast(k - half);
}
// m = x / 2^k near 1, and log m = 2 (s + s³/3 + s⁵/5 + …) with s = (m - 1) / (m + 1).
LAB_DEVICE float lab_log_of_part(float x, float* k) {
  const bool small = x < 0x1p-126f;
  const unsigned bits = __float_as_uint(small ? x * 0x1p32f : x) - 0x3f3504f3u;  // less √½
  *k = static_cast<float>(static_cast<int>(bits) >> 23) - (small ? 32.f : 0.f);
  const float above = __uint_as_float((bits & 0x7fffffu) + 0x3f3504f3u) - 1, s = above / (2 + above), z = s * s;
  const float sum = fmaf(fmaf(fmaf(2.f / 9, z, 2.f / 7), z, 2.f / 5), z, 2.f / 3);
  return fmaf(sum * z, s, 2 * s);
}
LAB_DEVICE float logf(float x) {
  if (!(x > 0 && x < __builtin_huge_valf())) return __log2f(x);
  float k;
  const float part = lab_log_of_part(x, &k);
  return fmaf(k, LAB_LN_2, part);
}
LAB_DEVICE float log2f(float x) {
  if (!(x > 0 && x < __builtin_huge_valf())) return __log2f(x);
  float k;
  const float part = lab_log_of_part(x, &k);
  return fmaf(part, LAB_LOG2_E, k);
}

// ---- Angles ----

__attribute__((device, noinline, nodebug)) static float lab_reduced_far(float x, int* quarter) {
  return static_cast<float>(lab_reduced(x, quarter).high);
}
// x less the nearest multiple of π / 2, which is subtracted as a sum of three.
LAB_DEVICE float lab_reduced_near(float x, int* quarter) {
  if (fabsf(x) > 48039.f) return lab_reduced_far(x, quarter);
  const float k = rintf(x * 0.636619747f);
  *quarter = static_cast<int>(k);
  return fmaf(k, 1.71512451e-15f, fmaf(k, 4.37113883e-08f, fmaf(-k, 1.57079637f, x)));
}
LAB_BOTH float lab_sine(float x, float z) {
  return fmaf(fmaf(fmaf(fmaf(1.f / 362880, z, -1.f / 5040), z, 1.f / 120), z, -1.f / 6) * z, x, x);
}
LAB_BOTH float lab_cosine(float z) {
  const float sum = fmaf(fmaf(fmaf(-1.f / 3628800, z, 1.f / 40320), z, -1.f / 720), z, 1.f / 24);
  return fmaf(fmaf(sum, z, -0.5f), z, 1.f);
}
LAB_DEVICE void sincosf(float x, float* sine, float* cosine) {
  if (!(fabsf(x) < __builtin_huge_valf())) {
    *sine = *cosine = __builtin_nanf("");
    return;
  }
  int quarter;
  const float rest = lab_reduced_near(x, &quarter), z = rest * rest;
  const float s = lab_sine(rest, z), c = lab_cosine(z);
  lab_turned(quarter, s, c, sine, cosine);
  if (x == 0) *sine = x;
}
LAB_DEVICE float sinf(float x) {
  float sine, cosine;
  sincosf(x, &sine, &cosine);
  return sine;
}
LAB_DEVICE float cosf(float x) {
  float sine, cosine;
  sincosf(x, &sine, &cosine);
  return cosine;
}
LAB_DEVICE float tanf(float x) {
  float sine, cosine;
  sincosf(x, &sine, &cosine);
  return sine / cosine;
}

// ---- What networks use ----

LAB_DEVICE float tanhf(float x) {
  const float size = fabsf(x), z = x * x;
  if (size < 0.6f) {
    const float sum = fmaf(fmaf(fmaf(-0.00590583449f, z, 0.0208053533f), z, -0.0537866727f), z, 0.133319587f);
    return copysignf(fmaf(fmaf(sum, z, -0.333332986f) * z, x, x), x);
  }
  return copysignf(1 - 2 / (expf(2 * size) + 1), x);
}
LAB_DEVICE float erff(float x) {
  const float size = fabsf(x), z = x * x;
  if (size <= 1) {
    float sum = fmaf(7.88910766e-05f, z, -0.000802083756f);
    sum = fmaf(sum, z, 0.00518953474f);
    sum = fmaf(sum, z, -0.0268544443f);
    sum = fmaf(sum, z, 0.112836003f);
    sum = fmaf(sum, z, -0.37612626f);
    return x * fmaf(sum, z, 1.12837911f);
  }
  if (x != x) return x;
  const float at = fminf(size, 4.f);
  float sum = fmaf(-3.12878801e-05f, at, 0.000636718352f);  // the logarithm of 1 - erf(x), to the base 2
  sum = fmaf(sum, at, -0.00606592372f);
  sum = fmaf(sum, at, 0.0363678932f);
  sum = fmaf(sum, at, -0.156415045f);
  sum = fmaf(sum, at, -0.913543105f);
  sum = fmaf(sum, at, -1.62963724f);
  return copysignf(1 - lab_exp2_fast(fmaf(sum, at, 0.000271296856f)), x);
}

// ---- Computed in double ----

#define LAB_IN_DOUBLE(NAME) \
  LAB_DEVICE float NAME##f(float x) { return static_cast<float>(NAME(static_cast<double>(x))); }
#define LAB_IN_DOUBLE_2(NAME)                                                  \
  LAB_DEVICE float NAME##f(float x, float y) {                                 \
    return static_cast<float>(NAME(static_cast<double>(x), static_cast<double>(y))); \
  }
LAB_IN_DOUBLE(exp10)
LAB_IN_DOUBLE(expm1)
LAB_IN_DOUBLE(log10)
LAB_IN_DOUBLE(log1p)
LAB_IN_DOUBLE(cbrt)
LAB_IN_DOUBLE(rcbrt)
LAB_IN_DOUBLE(sinpi)
LAB_IN_DOUBLE(cospi)
LAB_IN_DOUBLE(atan)
LAB_IN_DOUBLE(asin)
LAB_IN_DOUBLE(acos)
LAB_IN_DOUBLE(sinh)
LAB_IN_DOUBLE(cosh)
LAB_IN_DOUBLE(asinh)
LAB_IN_DOUBLE(acosh)
LAB_IN_DOUBLE(atanh)
LAB_IN_DOUBLE(erfc)
LAB_IN_DOUBLE(erfcx)
LAB_IN_DOUBLE(normcdf)
LAB_IN_DOUBLE(erfinv)
LAB_IN_DOUBLE(erfcinv)
LAB_IN_DOUBLE(normcdfinv)
LAB_IN_DOUBLE(lgamma)
LAB_IN_DOUBLE(tgamma)
LAB_IN_DOUBLE(logb)
LAB_IN_DOUBLE_2(pow)
LAB_IN_DOUBLE_2(fmod)
LAB_IN_DOUBLE_2(remainder)
LAB_IN_DOUBLE_2(atan2)
LAB_IN_DOUBLE_2(hypot)
LAB_IN_DOUBLE_2(rhypot)
LAB_DEVICE float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
LAB_DEVICE float rnorm3df(float a, float b, float c) { return static_cast<float>(rnorm3d(a, b, c)); }
LAB_DEVICE float norm4df(float a, float b, float c, float d) { return static_cast<float>(norm4d(a, b, c, d)); }
LAB_DEVICE float rnorm4df(float a, float b, float c, float d) { return static_cast<float>(rnorm4d(a, b, c, d)); }
LAB_DEVICE float ldexpf(float x, int exponent) { return static_cast<float>(ldexp(static_cast<double>(x), exponent)); }
LAB_DEVICE float scalbnf(float x, int exponent) { return ldexpf(x, exponent); }
LAB_DEVICE float scalblnf(float x, long exponent) { return static_cast<float>(scalbln(static_cast<double>(x), exponent)); }
LAB_DEVICE float frexpf(float x, int* exponent) { return static_cast<float>(frexp(static_cast<double>(x), exponent)); }
LAB_DEVICE int ilogbf(float x) { return ilogb(static_cast<double>(x)); }
LAB_DEVICE float modff(float x, float* whole) {
  *whole = truncf(x);
  return copysignf(fabsf(x) == __builtin_huge_valf() ? 0 : x - *whole, x);
}
LAB_BOTH float nextafterf(float x, float to) {
  if (x != x || to != to) return x + to;
  if (x == to) return to;
  if (x == 0) return copysignf(__uint_as_float(1), to);
  return __int_as_float(__float_as_int(x) + ((x < to) == (x > 0) ? 1 : -1));
}
LAB_DEVICE void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
