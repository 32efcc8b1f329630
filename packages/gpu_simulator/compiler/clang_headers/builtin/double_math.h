// Functions of a double. Each reduces its argument until a series of few terms has an error below a rounding.
// Facts: W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980; M. Payne, R. Hanek, “Radian Reduction
// for Trigonometric Functions”, 1983; ISO C, annex F, for zeros, infinities and what is not a number.
#pragma once

// ---- Signs, whole parts, exponents ----

LAB_BOTH double fabs(double x) { return __builtin_fabs(x); }
LAB_BOTH double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
LAB_BOTH double fmin(double a, double b) { return __builtin_fmin(a, b); }
LAB_BOTH double fmax(double a, double b) { return __builtin_fmax(a, b); }
LAB_BOTH double fdim(double a, double b) { return a <= b ? 0 : a - b; }
LAB_BOTH double copysign(double a, double b) { return __builtin_copysign(a, b); }
LAB_BOTH double floor(double x) { return __builtin_floor(x); }
LAB_BOTH double ceil(double x) { return __builtin_ceil(x); }
LAB_BOTH double trunc(double x) { return __builtin_trunc(x); }
LAB_BOTH double rint(double x) { return __builtin_rint(x); }
LAB_BOTH double nearbyint(double x) { return __builtin_rint(x); }
LAB_BOTH double round(double x) { return trunc(x + copysign(0x1.fffffffffffffp-2, x)); }
LAB_DEVICE long long llrint(double x) { return __double2ll_rn(x); }
LAB_DEVICE long lrint(double x) { return __double2ll_rn(x); }
LAB_DEVICE long long llround(double x) { return __double2ll_rz(round(x)); }
LAB_DEVICE long lround(double x) { return __double2ll_rz(round(x)); }
LAB_DEVICE double sqrt(double x) { return __dsqrt_rn(x); }
LAB_DEVICE double rsqrt(double x) { return 1 / sqrt(x); }

constexpr double LAB_INFINITE = __builtin_huge_val(), LAB_NO_NUMBER = __builtin_nan("");

// 2 to a power from -1022 to 1023.
LAB_BOTH double lab_power_of_2(int exponent) { return __longlong_as_double((exponent + 1023LL) << 52); }
LAB_BOTH double ldexp(double x, int exponent) {
  exponent = max(-2200, min(2200, exponent));
  const int third = exponent / 3;
  return x * lab_power_of_2(third) * lab_power_of_2(third) * lab_power_of_2(exponent - 2 * third);
}
LAB_BOTH double scalbn(double x, int exponent) { return ldexp(x, exponent); }
LAB_BOTH double scalbln(double x, long exponent) { return ldexp(x, static_cast<int>(max(-9999L, min(9999L, exponent)))); }
// A number of the same digits from 0.5 to 1, and its exponent.
LAB_BOTH double frexp(double x, int* exponent) {
  *exponent = 0;
  if (x == 0 || !(fabs(x) < LAB_INFINITE)) return x;
  if (fabs(x) < 0x1p-1022) {
    x *= 0x1p64;
    *exponent = -64;
  }
  const long long bits = __double_as_longlong(x);
  *exponent += static_cast<int>(bits >> 52 & 0x7ff) - 1022;
  return __longlong_as_double((bits & ~(0x7ffLL << 52)) | 1022LL << 52);
}
LAB_BOTH int ilogb(double x) {
  if (x == 0 || x != x) return -2147483647 - 1;
  if (fabs(x) == LAB_INFINITE) return 2147483647;
  int exponent;
  frexp(x, &exponent);
  return exponent - 1;
}
LAB_BOTH double logb(double x) {
  return x == 0 ? -LAB_INFINITE : !(fabs(x) < LAB_INFINITE) ? x * x : static_cast<double>(ilogb(x));
}
LAB_BOTH double modf(double x, double* whole) {
  *whole = trunc(x);
  return copysign(fabs(x) == LAB_INFINITE ? 0 : x - *whole, x);
}
LAB_BOTH double nextafter(double x, double to) {
  if (x != x || to != to) return x + to;
  if (x == to) return to;
  if (x == 0) return copysign(__longlong_as_double(1), to);
  return __longlong_as_double(__double_as_longlong(x) + ((x < to) == (x > 0) ? 1 : -1));
}
// Subtracts multiples of the divisor from the largest on, each exactly.
LAB_DEVICE double fmod(double x, double divisor) {
  double rest = fabs(x);
  divisor = fabs(divisor);
  if (!(rest < LAB_INFINITE) || divisor == 0 || divisor != divisor) return LAB_NO_NUMBER;
  if (rest >= divisor)
    for (int places = ilogb(rest) - ilogb(divisor); places >= 0; places--) {
      const double multiple = ldexp(divisor, places);
      if (rest >= multiple) rest -= multiple;
    }
  return copysign(rest, x);
}
LAB_DEVICE double remainder(double x, double divisor) {
  divisor = fabs(divisor);
  if (!(fabs(x) < LAB_INFINITE)) return LAB_NO_NUMBER;
  if (divisor == LAB_INFINITE) return x;
  if (divisor < 0x1p1022 || !(divisor > 0)) x = fmod(x, 2 * divisor);
  double rest = fabs(x);
  if (rest > divisor - rest) {
    rest -= divisor;
    if (rest >= divisor - rest) rest -= divisor;
  }
  return __double_as_longlong(x) < 0 ? -rest : rest;
}
LAB_DEVICE double hypot(double x, double y) {
  x = fabs(x);
  y = fabs(y);
  if (x == LAB_INFINITE || y == LAB_INFINITE) return LAB_INFINITE;
  const double most = fmax(x, y), least = fmin(x, y);
  if (x != x || y != y) return LAB_NO_NUMBER;
  return most == 0 ? 0 : most * sqrt(1 + least / most * (least / most));
}
LAB_DEVICE double rhypot(double x, double y) { return 1 / hypot(x, y); }
LAB_DEVICE double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
LAB_DEVICE double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
LAB_DEVICE double norm4d(double a, double b, double c, double d) { return hypot(norm3d(a, b, c), d); }
LAB_DEVICE double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }

// ---- Powers and logarithms ----

constexpr double LAB_LN2_HIGH = 0x1.62e42fee00000p-1, LAB_LN2_LOW = 0x1.a39ef35793c76p-33;  // ln 2; k · HIGH is exact

// e to the power x, less 1, for |x| ≤ 0.35: x + x²/2! + x³/3! + …
LAB_BOTH double lab_exp_less_1(double x) {
  double sum = 1.0 / 6227020800.0;
  sum = fma(sum, x, 1.0 / 479001600.0);
  sum = fma(sum, x, 1.0 / 39916800.0);
  sum = fma(sum, x, 1.0 / 3628800.0);
  sum = fma(sum, x, 1.0 / 362880.0);
  sum = fma(sum, x, 1.0 / 40320.0);
  sum = fma(sum, x, 1.0 / 5040.0);
  sum = fma(sum, x, 1.0 / 720.0);
  sum = fma(sum, x, 1.0 / 120.0);
  sum = fma(sum, x, 1.0 / 24.0);
  sum = fma(sum, x, 1.0 / 6.0);
  sum = fma(sum, x, 0.5);
  return fma(sum * x, x, x);
}
// e to the power high + low, of which low is small.
LAB_BOTH double lab_exp(double high, double low) {
  if (high != high) return high;
  high = fmax(-800.0, fmin(800.0, high));
  const double k = rint(high * 1.4426950408889634);
  const double rest = fma(-k, LAB_LN2_LOW, fma(-k, LAB_LN2_HIGH, high)) + low;
  const int exponent = static_cast<int>(k), half = exponent >> 1;
  return (1 + lab_exp_less_1(rest)) * lab_power_of_2(half) * lab_power_of_2(exponent - half);
}
LAB_BOTH double exp(double x) { return lab_exp(x, 0); }
LAB_BOTH double exp2(double x) {
  const double whole = rint(fmax(-2000.0, fmin(2000.0, x))), rest = x - whole;
  if (!(fabs(x) <= 2000)) return lab_exp(x, 0);
  return ldexp(lab_exp(rest * 0.6931471805599453, rest * 2.3190468138462996e-17), static_cast<int>(whole));
}
LAB_BOTH double exp10(double x) {
  const double product = x * 2.302585092994046;
  return lab_exp(product, fabs(x) < 400 ? fma(x, 2.302585092994046, -product) + x * -2.1707562233822494e-16 : 0);
}
LAB_BOTH double expm1(double x) {
  return x == 0 ? x : fabs(x) < 0.35 ? x + (lab_exp_less_1(x) - x) : exp(x) - 1;
}

// The logarithm of a positive number as a sum of two: with m = x / 2^k near 1 and s = (m - 1) / (m + 1), it is
// k ln 2 + 2 (s + s³/3 + s⁵/5 + …).
struct lab_sum {
  double high, low;
};
LAB_BOTH lab_sum lab_log(double x) {
  int k;
  double m = frexp(x, &k);
  if (m < 0.7071067811865476) {
    m *= 2;
    k--;
  }
  const double above = m - 1, below = m + 1, below_low = m - (below - 1);
  const double s = above / below, s_low = (fma(-s, below, above) - s * below_low) / below, z = s * s;
  double sum = 2.0 / 23;
  sum = fma(sum, z, 2.0 / 21);
  sum = fma(sum, z, 2.0 / 19);
  sum = fma(sum, z, 2.0 / 17);
  sum = fma(sum, z, 2.0 / 15);
  sum = fma(sum, z, 2.0 / 13);
  sum = fma(sum, z, 2.0 / 11);
  sum = fma(sum, z, 2.0 / 9);
  sum = fma(sum, z, 2.0 / 7);
  sum = fma(sum, z, 2.0 / 5);
  sum = fma(sum, z, 2.0 / 3);
  const double main = k * LAB_LN2_HIGH, twice = 2 * s, high = main + twice;
  const double lost = k ? twice - (high - main) : 0;
  return {high, lost + fma(z * s, sum, fma(k, LAB_LN2_LOW, 2 * s_low))};
}
LAB_BOTH double log(double x) {
  if (!(x > 0)) return x == 0 ? -LAB_INFINITE : LAB_NO_NUMBER;
  if (x == LAB_INFINITE) return x;
  const lab_sum found = lab_log(x);
  return found.high + found.low;
}
LAB_BOTH double lab_log_times(double x, double factor, double factor_low) {
  if (!(x > 0) || x == LAB_INFINITE) return log(x);
  const lab_sum found = lab_log(x);
  return fma(found.high, factor, fma(found.low, factor, found.high * factor_low));
}
LAB_BOTH double log2(double x) {
  int k;
  const double m = frexp(x, &k);
  return m == 0.5 ? k - 1 : lab_log_times(x, 1.4426950408889634, 2.0355273740931033e-17);
}
LAB_BOTH double log10(double x) { return lab_log_times(x, 0.4342944819032518, 1.098319650216765e-17); }
LAB_BOTH double log1p(double x) {
  const double sum = 1 + x;
  if (!(sum > 0) || sum == LAB_INFINITE) return log(sum);
  return sum == 1 ? x : log(sum) * (x / (sum - 1));
}

LAB_BOTH double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const double size = fabs(x);
  const bool whole = trunc(y) == y, odd = whole && fabs(y) < 0x1p53 && (static_cast<long long>(y) & 1);
  const double sign = odd && __double_as_longlong(x) < 0 ? -1 : 1;
  if (size == 0 || size == LAB_INFINITE) return sign * ((size == 0) == (y > 0) ? 0 : LAB_INFINITE);
  if (fabs(y) == LAB_INFINITE) return size == 1 ? 1 : (size > 1) == (y > 0) ? LAB_INFINITE : 0;
  if (x < 0 && !whole) return LAB_NO_NUMBER;
  const lab_sum found = lab_log(size);
  const double high = found.high + found.low, low = found.low - (high - found.high), product = y * high;
  if (fabs(product) > 800) return sign * lab_exp(product, 0);
  return sign * lab_exp(product, fma(y, high, -product) + y * low);
}
LAB_BOTH double powi(double x, int y) { return pow(x, static_cast<double>(y)); }
LAB_BOTH double cbrt(double x) {
  if (x == 0 || !(fabs(x) < LAB_INFINITE)) return x;
  const double scale = fabs(x) < 0x1p-960 ? 0x1p-54 : 1;
  x /= scale * scale * scale;
  const double root = copysign(exp(log(fabs(x)) / 3), x);
  return (root - (root * root * root - x) / (3 * root * root)) * scale;
}
LAB_BOTH double rcbrt(double x) { return 1 / cbrt(x); }

// ---- Angles ----

// 64 zeros, and the first 1,216 binary digits of 2 / π.
static __attribute__((device)) const unsigned long long lab_2_by_pi[20] = {
    0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};
// For |x| ≥ 2^30 = digits · 2^shift: the multiple of π / 2 nearest to it, modulo 4, and what is left of it. Of 2 / π,
// digits of a weight of 2^(2 - shift) and more give whole circles, and the 192 digits behind these are precise enough.
__attribute__((device, noinline, nodebug)) static double lab_reduced_exactly(double x, int* quarter) {
  const long long bits = __double_as_longlong(x);
  const unsigned long long digits = (bits & ((1LL << 52) - 1)) | 1LL << 52;
  const int shift = static_cast<int>(bits >> 52 & 0x7ff) - 1075, first = shift - 2 + 64;
  unsigned long long part[3];
  for (int i = 0; i < 3; i++) {
    const unsigned long long word = lab_2_by_pi[first / 64 + i], next = lab_2_by_pi[first / 64 + i + 1];
    part[i] = first % 64 ? word << first % 64 | next >> (64 - first % 64) : word;
  }
  const unsigned long long carried = __umul64hi(digits, part[2]);
  unsigned long long low = carried + digits * part[1];
  unsigned long long high = __umul64hi(digits, part[1]) + (low < carried) + digits * part[0];
  *quarter = static_cast<int>(high >> 62);
  high = high << 2 | low >> 62;
  low <<= 2;
  const bool above = high >> 63;  // more than half of a quarter: it is a negative part of the next one
  if (above) {
    high = ~high;
    low = ~low;
    ++*quarter;
  }
  const double part_of_1 = (__ull2double_rn(high) + __ull2double_rn(low) * 0x1p-64) * 0x1p-64;
  const double rest = (above ? -part_of_1 : part_of_1) * 1.5707963267948966;
  if (x < 0) *quarter = -*quarter;
  return x < 0 ? -rest : rest;
}
// x less a multiple of π / 2, as a sum of two; the multiple.
LAB_DEVICE lab_sum lab_reduced(double x, int* quarter) {
  if (fabs(x) >= 0x1p30) return {lab_reduced_exactly(x, quarter), 0};
  const double k = rint(x * 0.6366197723675814);
  *quarter = static_cast<int>(k);
  const double first = fma(-k, 0x1.921fb54442d18p+0, x), second = k * 0x1.1a62633145c07p-54;
  const double high = first - second;
  return {high, (first - high) - second - fma(k, 0x1.1a62633145c07p-54, -second) + k * 0x1.f1976b7ed8fbcp-110};
}
LAB_BOTH double lab_sine(double x, double low) {
  const double z = x * x;
  double sum = -1.0 / 121645100408832000.0;
  sum = fma(sum, z, 1.0 / 355687428096000.0);
  sum = fma(sum, z, -1.0 / 1307674368000.0);
  sum = fma(sum, z, 1.0 / 6227020800.0);
  sum = fma(sum, z, -1.0 / 39916800.0);
  sum = fma(sum, z, 1.0 / 362880.0);
  sum = fma(sum, z, -1.0 / 5040.0);
  sum = fma(sum, z, 1.0 / 120.0);
  sum = fma(sum, z, -1.0 / 6.0);
  return x + fma(sum * z, x, low * (1 - 0.5 * z));
}
LAB_BOTH double lab_cosine(double x, double low) {
  const double z = x * x;
  double sum = 1.0 / 2432902008176640000.0;
  sum = fma(sum, z, -1.0 / 6402373705728000.0);
  sum = fma(sum, z, 1.0 / 20922789888000.0);
  sum = fma(sum, z, -1.0 / 87178291200.0);
  sum = fma(sum, z, 1.0 / 479001600.0);
  sum = fma(sum, z, -1.0 / 3628800.0);
  sum = fma(sum, z, 1.0 / 40320.0);
  sum = fma(sum, z, -1.0 / 720.0);
  sum = fma(sum, z, 1.0 / 24.0);
  const double half = 0.5 * z, main = 1 - half;
  return main + ((1 - main - half) + fma(sum * z, z, -x * low));
}
// Sine and cosine of an angle from those of what is left of it beyond `quarter` right angles.
template <class Type>
LAB_DEVICE void lab_turned(int quarter, Type s, Type c, Type* sine, Type* cosine) {
  *sine = quarter & 1 ? c : s;
  *cosine = quarter & 1 ? s : c;
  if (quarter & 2) *sine = -*sine;
  if ((quarter + 1) & 2) *cosine = -*cosine;
}
LAB_DEVICE void sincos(double x, double* sine, double* cosine) {
  if (!(fabs(x) < LAB_INFINITE)) {
    *sine = *cosine = LAB_NO_NUMBER;
    return;
  }
  int quarter;
  const lab_sum rest = lab_reduced(x, &quarter);
  const double s = lab_sine(rest.high, rest.low), c = lab_cosine(rest.high, rest.low);
  lab_turned(quarter, s, c, sine, cosine);
  if (x == 0) *sine = x;
}
LAB_DEVICE double sin(double x) {
  double sine, cosine;
  sincos(x, &sine, &cosine);
  return sine;
}
LAB_DEVICE double cos(double x) {
  double sine, cosine;
  sincos(x, &sine, &cosine);
  return cosine;
}
LAB_DEVICE double tan(double x) {
  double sine, cosine;
  sincos(x, &sine, &cosine);
  return sine / cosine;
}
LAB_DEVICE void sincospi(double x, double* sine, double* cosine) {
  if (fabs(x) >= 0x1p53 && fabs(x) < LAB_INFINITE) x *= 0;  // an even number of half circles
  const double k = rint(2 * x), rest = fma(-0.5, k, x), angle = rest * 3.141592653589793;
  const double low = fma(rest, 3.141592653589793, -angle) + rest * 1.2246467991473532e-16;
  const int quarter = static_cast<int>(static_cast<long long>(k));
  const double s = lab_sine(angle, low), c = lab_cosine(angle, low);
  lab_turned(quarter, s, c, sine, cosine);
  if (*sine == 0) *sine = copysign(0.0, x);
  *cosine += 0;  // of zeros the positive one
}
LAB_DEVICE double sinpi(double x) {
  double sine, cosine;
  sincospi(x, &sine, &cosine);
  return sine;
}
LAB_DEVICE double cospi(double x) {
  double sine, cosine;
  sincospi(x, &sine, &cosine);
  return cosine;
}
// atan(x) = 2 atan(x / (1 + √(1 + x²))), twice, then x - x³/3 + x⁵/5 - …, for |x| ≤ 1.
LAB_DEVICE double lab_atan(double x) {
  for (int i = 0; i < 2; i++) x = x / (1 + sqrt(fma(x, x, 1.0)));
  const double z = x * x;
  double sum = -1.0 / 23;
  sum = fma(sum, z, 1.0 / 21);
  sum = fma(sum, z, -1.0 / 19);
  sum = fma(sum, z, 1.0 / 17);
  sum = fma(sum, z, -1.0 / 15);
  sum = fma(sum, z, 1.0 / 13);
  sum = fma(sum, z, -1.0 / 11);
  sum = fma(sum, z, 1.0 / 9);
  sum = fma(sum, z, -1.0 / 7);
  sum = fma(sum, z, 1.0 / 5);
  sum = fma(sum, z, -1.0 / 3);
  return 4 * fma(sum * z, x, x);
}
LAB_DEVICE double atan(double x) {
  const double size = fabs(x);
  if (size != size) return x;
  return copysign(size > 1 ? 1.5707963267948966 - (lab_atan(1 / size) - 6.123233995736766e-17) : lab_atan(size), x);
}
LAB_DEVICE double atan2(double y, double x) {
  if (x != x || y != y) return LAB_NO_NUMBER;
  const double up = fabs(y), right = fabs(x), least = fmin(up, right), most = fmax(up, right);
  double angle = most == 0 ? 0 : least == LAB_INFINITE ? 0.7853981633974483 : lab_atan(least / most);
  if (up > right) angle = 1.5707963267948966 - (angle - 6.123233995736766e-17);
  if (__double_as_longlong(x) < 0) angle = 3.141592653589793 - (angle - 1.2246467991473532e-16);
  return copysign(angle, y);
}
LAB_DEVICE double asin(double x) { return fabs(x) > 1 ? LAB_NO_NUMBER : atan2(x, sqrt((1 - x) * (1 + x))); }
LAB_DEVICE double acos(double x) { return fabs(x) > 1 ? LAB_NO_NUMBER : 2 * atan2(sqrt(1 - x), sqrt(1 + x)); }

// ---- Hyperbolas ----

LAB_BOTH double sinh(double x) {
  const double size = fabs(x), grown = expm1(size);
  return copysign(size > 700 ? 0.5 * exp(0.5 * size) * exp(0.5 * size) : 0.5 * (grown + grown / (grown + 1)), x);
}
LAB_BOTH double cosh(double x) {
  const double half = exp(0.5 * fabs(x));
  return fabs(x) > 700 ? 0.5 * half * half : 0.5 * (exp(x) + exp(-x));
}
LAB_BOTH double tanh(double x) {
  const double grown = expm1(2 * fmin(fabs(x), 22.0));
  return x != x ? x : copysign(grown / (grown + 2), x);
}
LAB_DEVICE double asinh(double x) {
  const double size = fabs(x);
  if (size > 0x1p500) return copysign(log(size) + 0.6931471805599453, x);
  return copysign(log1p(size + size * size / (1 + sqrt(size * size + 1))), x);
}
LAB_DEVICE double acosh(double x) {
  if (!(x >= 1)) return LAB_NO_NUMBER;
  return x > 0x1p500 ? log(x) + 0.6931471805599453 : log1p((x - 1) + sqrt((x - 1) * (x + 1)));
}
LAB_BOTH double atanh(double x) { return copysign(0.5 * log1p(2 * fabs(x) / (1 - fabs(x))), x); }

// ---- The normal distribution ----

// The series 2 / √π · exp(-x²) · (x + 2x³/3 + 4x⁵/15 + …), whose terms are positive, for |x| ≤ 1.
__attribute__((device, noinline, nodebug)) static double lab_erf(double x) {
  const double twice = 2 * x * x, square = x * x;
  double sum = 1;
  for (int i = 24; i > 0; i--) sum = fma(sum, twice / (2 * i + 1), 1.0);
  return 1.1283791670955126 * lab_exp(-square, -fma(x, x, -square)) * sum * x;
}
// The continued fraction of exp(x²) erfc(x), for x ≥ 1.
__attribute__((device, noinline, nodebug)) static double lab_erfc_scaled(double x) {
  double below = x;
  for (int i = 200; i > 0; i--) below = x + 0.5 * i / below;
  return 0.5641895835477563 / below;
}
// exp(-x²), with the square as a sum of two.
LAB_BOTH double lab_bell(double x) {
  const double square = x * x;
  return square > 800 ? 0 : lab_exp(-square, -fma(x, x, -square));
}
LAB_DEVICE double erfcx(double x) {
  if (x < -1) return 2 / lab_bell(x) - lab_erfc_scaled(-x);
  return x < 1 ? (1 - lab_erf(x)) / lab_bell(x) : lab_erfc_scaled(x);
}
LAB_DEVICE double erf(double x) {
  const double size = fabs(x);
  return x != x ? x : size < 1 ? lab_erf(x) : copysign(size > 6 ? 1 : 1 - lab_bell(size) * lab_erfc_scaled(size), x);
}
LAB_DEVICE double erfc(double x) {
  const double size = fabs(x);
  if (!(size >= 0.5)) return 1 - erf(x);  // also what is not a number
  const double rest = size < 1 ? 1 - lab_erf(size) : lab_bell(size) * lab_erfc_scaled(size);
  return x < 0 ? 2 - rest : rest;
}
// The logarithm of what the gamma function is beside √(2π) x^(x - ½) exp(-x), for x ≥ 16: Stirling's series.
LAB_BOTH double lab_stirling(double x) {
  const double r = 1 / x, z = r * r;
  return r * fma(z, fma(z, fma(z, fma(z, 1.0 / 1188, -1.0 / 1680), 1.0 / 1260), -1.0 / 360), 1.0 / 12);
}
// The gamma function for x ≥ 0.5, by that of x + n, where n is a whole number, divided by x (x + 1) … (x + n - 1). The power
// is divided in two, so that it is not too large.
__attribute__((device, noinline, nodebug)) static double lab_tgamma(double x) {
  double product = 1, n = 0;
  for (; x + n < 16; n++) product *= x + n;
  const double at = x + n, low = x - (at - n), half = pow(at, 0.5 * at - 0.25);
  if (x > 172) return LAB_INFINITE;
  return 2.5066282746310002 * exp(lab_stirling(at)) * half * exp(-at) * half * fma(low, log(at), 1.0) / product;
}
LAB_DEVICE double lab_lgamma(double x) {
  if (x < 16) return log(lab_tgamma(x));
  return 0.91893853320467274 + (x - 0.5) * log(x) - x + lab_stirling(x);
}
LAB_DEVICE double lgamma(double x) {
  if (!(x < 0.5)) return x == 1 || x == 2 ? 0 : x == LAB_INFINITE ? x : lab_lgamma(x);
  return x == floor(x) ? LAB_INFINITE : 1.1447298858494002 - log(fabs(sinpi(x))) - lab_lgamma(1 - x);  // the first is log π
}
LAB_DEVICE double tgamma(double x) {
  if (x == floor(x) && x <= 0) return x == 0 ? 1 / x : LAB_NO_NUMBER;
  if (x < 0.5) return x < -184 ? copysign(0.0, fmod(floor(x), 2)) : 3.141592653589793 / (sinpi(x) * lab_tgamma(1 - x));
  return x == floor(x) && x < 23 ? rint(lab_tgamma(x)) : lab_tgamma(x);
}
LAB_DEVICE double normcdf(double x) {
  const double at = -0.7071067811865476 * x, low = fma(-0.7071067811865476, x, -at) + x * 4.833646656726457e-17;
  return fabs(x) < 40 ? 0.5 * (erfc(at) - 1.1283791670955126 * lab_bell(at) * low) : x > 0 ? 1 : x != x ? x : 0;
}
// Where erfc is x, for 0 < x ≤ ½: a formula of S. Winitzki to begin with, and steps of Newton's for the logarithm.
__attribute__((device, noinline, nodebug)) static double lab_erfc_inverse(double x) {
  const double part = log(x * (2 - x)), middle = 4.330746750799873 + 0.5 * part;
  double y = sqrt(sqrt(middle * middle - part / 0.147) - middle);
  for (int i = 0; i < 4; i++) y += log(erfc(y) / x) * erfc(y) / (1.1283791670955126 * lab_bell(y));
  return y;
}
LAB_DEVICE double erfinv(double x) {
  if (!(fabs(x) < 1)) return fabs(x) == 1 ? x * LAB_INFINITE : LAB_NO_NUMBER;
  if (fabs(x) >= 0.5) return copysign(lab_erfc_inverse(1 - fabs(x)), x);
  double y = x * fma(0.232, x * x, 0.8862269254527580);
  for (int i = 0; i < 3; i++) {  // Halley's
    const double step = (erf(y) - x) / (1.1283791670955126 * lab_bell(y));
    y -= step / (1 + y * step);
  }
  return y;
}
LAB_DEVICE double erfcinv(double x) {
  if (x == 0) return LAB_INFINITE;
  return x > 0 && x <= 0.5 ? lab_erfc_inverse(x) : x >= 1.5 && x < 2 ? -lab_erfc_inverse(2 - x) : erfinv(1 - x);
}
LAB_DEVICE double normcdfinv(double x) { return -1.4142135623730951 * erfcinv(2 * x); }
