// What FP16 and BF16 have in common: operators, comparisons, functions, shuffles and loads, of one number and of a pair.
// Facts: CUDA Math API, “Half Precision Intrinsics”, “Bfloat16 Precision Intrinsics”.
#pragma once

// A number of few types that has the value of any.
LAB_BOTH int lab_plain(int x) { return x; }
LAB_BOTH unsigned lab_plain(unsigned x) { return x; }
LAB_BOTH long long lab_plain(long x) { return x; }
LAB_BOTH unsigned long long lab_plain(unsigned long x) { return x; }
LAB_BOTH long long lab_plain(long long x) { return x; }
LAB_BOTH unsigned long long lab_plain(unsigned long long x) { return x; }
LAB_BOTH double lab_plain(double x) { return x; }
// The float next to a number that has more digits than it, on the side of 0, and odd in its last digit if the number is
// between two floats. Rounded to fewer digits, it gives what the number itself gives.
LAB_DEVICE float lab_odd(double x) {
  const float near = __double2float_rz(x);
  return near == x || x != x ? near : __uint_as_float(__float_as_uint(near) | 1);
}
LAB_DEVICE float lab_odd(int x) { return lab_odd(static_cast<double>(x)); }
LAB_DEVICE float lab_odd(unsigned x) { return lab_odd(static_cast<double>(x)); }
LAB_DEVICE float lab_odd(long long x) {
  const float near = __ll2float_rz(x);
  return __float2ll_rz(near) == x ? near : __uint_as_float(__float_as_uint(near) | 1);
}
LAB_DEVICE float lab_odd(unsigned long long x) {
  const float near = __ull2float_rz(x);
  return __float2ull_rz(near) == x ? near : __uint_as_float(__float_as_uint(near) | 1);
}
LAB_TO_WHOLE(lab_float2short, float, short, "s16.f32", "f", "h")
LAB_TO_WHOLE(lab_float2ushort, float, unsigned short, "u16.f32", "f", "h")
// A whole number of a type, or the nearest that the type has.
template <class Type>
LAB_DEVICE Type lab_limited(float x) {
  constexpr bool with_sign = static_cast<Type>(-1) < static_cast<Type>(0);
  if constexpr (sizeof(Type) == 8) return with_sign ? static_cast<Type>(__float2ll_rz(x)) : static_cast<Type>(__float2ull_rz(x));
  else if constexpr (sizeof(Type) == 4) return with_sign ? static_cast<Type>(__float2int_rz(x)) : static_cast<Type>(__float2uint_rz(x));
  else if constexpr (sizeof(Type) == 2) return with_sign ? static_cast<Type>(lab_float2short_rz(x)) : static_cast<Type>(lab_float2ushort_rz(x));
  else return lab_within<Type>(__float2int_rz(x));
}

// A number whose bits are __x, and a pair. RAW: a structure with the bits alone, as NVIDIA's headers have it.
// FROM: the bits of a float, a double or a whole number that is rounded to the nearest.   WIDENED: the float of this value.
#define LAB_NUMBER(TYPE, PAIR, RAW, RAW_PAIR, FROM, WIDENED)                   \
  struct __attribute__((aligned(2))) RAW {                                     \
    unsigned short x;                                                          \
  };                                                                           \
  struct __attribute__((aligned(4))) RAW_PAIR {                                \
    unsigned short x, y;                                                       \
  };                                                                           \
  struct __attribute__((aligned(2))) TYPE {                                    \
    unsigned short __x;                                                        \
    TYPE() = default;                                                          \
    LAB_BOTH constexpr TYPE(RAW raw) : __x(raw.x) {}                           \
    LAB_DEVICE TYPE(float value) : __x(FROM(value)) {}                         \
    template <class Type, class = typename lab_if<__is_arithmetic(Type)>::type> \
    LAB_DEVICE TYPE(Type value) : __x(FROM(lab_plain(value))) {}               \
    LAB_DEVICE operator float() const { return WIDENED(__x); }                 \
    template <class Type, class = typename lab_if<lab_whole<Type> && !lab_same<Type, bool>>::type> \
    LAB_DEVICE explicit operator Type() const { return lab_limited<Type>(WIDENED(__x)); } \
    LAB_BOTH constexpr operator RAW() const { return RAW{__x}; }               \
    LAB_BOTH operator RAW() const volatile { return RAW{__x}; }                \
  };                                                                           \
  struct __attribute__((aligned(4))) PAIR {                                    \
    typedef unsigned lab_vector;                                               \
    TYPE x, y;                                                                 \
    PAIR() = default;                                                          \
    LAB_BOTH constexpr PAIR(TYPE x, TYPE y) : x(x), y(y) {}                    \
    LAB_BOTH PAIR(RAW_PAIR raw) : x(RAW{raw.x}), y(RAW{raw.y}) {}              \
    LAB_BOTH operator RAW_PAIR() const { return RAW_PAIR{x.__x, y.__x}; }      \
    LAB_BOTH PAIR(const PAIR& other) {                                         \
      *reinterpret_cast<unsigned*>(this) = *reinterpret_cast<const unsigned*>(&other); \
    }                                                                          \
    LAB_BOTH PAIR& operator=(const PAIR& other) {                              \
      *reinterpret_cast<unsigned*>(this) = *reinterpret_cast<const unsigned*>(&other); \
      return *this;                                                            \
    }                                                                          \
  };                                                                           \
  LAB_BOTH constexpr TYPE lab_number(TYPE, unsigned short bits) { return TYPE(RAW{bits}); } \
  LAB_BOTH PAIR lab_pair(PAIR, unsigned bits) {                                \
    PAIR pair;                                                                 \
    *reinterpret_cast<unsigned*>(&pair) = bits;                                \
    return pair;                                                               \
  }                                                                            \
  LAB_BOTH unsigned lab_bits(const PAIR& pair) { return *reinterpret_cast<const unsigned*>(&pair); }

// ---- Arithmetic in PTX ----

#define LAB_16_PTX_1(NAME, NAME_PAIR, TYPE, PAIR, PTX, PTX_PAIR)               \
  LAB_DEVICE TYPE NAME(TYPE a) {                                               \
    unsigned short bits;                                                       \
    asm(PTX " %0, %1;" : "=h"(bits) : "h"(a.__x));                             \
    return lab_number(TYPE(), bits);                                           \
  }                                                                            \
  LAB_DEVICE PAIR NAME_PAIR(PAIR a) {                                            \
    unsigned bits;                                                             \
    asm(PTX_PAIR " %0, %1;" : "=r"(bits) : "r"(lab_bits(a)));                  \
    return lab_pair(PAIR(), bits);                                             \
  }
#define LAB_16_PTX_2(NAME, NAME_PAIR, TYPE, PAIR, PTX, PTX_PAIR)               \
  LAB_DEVICE TYPE NAME(TYPE a, TYPE b) {                                       \
    unsigned short bits;                                                       \
    asm(PTX " %0, %1, %2;" : "=h"(bits) : "h"(a.__x), "h"(b.__x));             \
    return lab_number(TYPE(), bits);                                           \
  }                                                                            \
  LAB_DEVICE PAIR NAME_PAIR(PAIR a, PAIR b) {                                    \
    unsigned bits;                                                             \
    asm(PTX_PAIR " %0, %1, %2;" : "=r"(bits) : "r"(lab_bits(a)), "r"(lab_bits(b))); \
    return lab_pair(PAIR(), bits);                                             \
  }
#define LAB_16_PTX_3(NAME, NAME_PAIR, TYPE, PAIR, PTX, PTX_PAIR)               \
  LAB_DEVICE TYPE NAME(TYPE a, TYPE b, TYPE c) {                               \
    unsigned short bits;                                                       \
    asm(PTX " %0, %1, %2, %3;" : "=h"(bits) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
    return lab_number(TYPE(), bits);                                           \
  }                                                                            \
  LAB_DEVICE PAIR NAME_PAIR(PAIR a, PAIR b, PAIR c) {                            \
    unsigned bits;                                                             \
    asm(PTX_PAIR " %0, %1, %2, %3;" : "=r"(bits) : "r"(lab_bits(a)), "r"(lab_bits(b)), "r"(lab_bits(c))); \
    return lab_pair(PAIR(), bits);                                             \
  }

// ---- Arithmetic in float, of the pair in each half ----

#define LAB_16_FLOAT_1(NAME, NAME_PAIR, TYPE, PAIR, BODY)                      \
  LAB_DEVICE TYPE NAME(TYPE number) {                                          \
    const float a = number;                                                    \
    return TYPE(static_cast<float>(BODY));                                     \
  }                                                                            \
  LAB_DEVICE PAIR NAME_PAIR(PAIR a) { return PAIR(NAME(a.x), NAME(a.y)); }
#define LAB_16_FLOAT_2(NAME, NAME_PAIR, TYPE, PAIR, BODY)                      \
  LAB_DEVICE TYPE NAME(TYPE left, TYPE right) {                                \
    const float a = left, b = right;                                           \
    return TYPE(static_cast<float>(BODY));                                     \
  }                                                                            \
  LAB_DEVICE PAIR NAME_PAIR(PAIR a, PAIR b) { return PAIR(NAME(a.x, b.x), NAME(a.y, b.y)); }
#define LAB_16_FLOAT_3(NAME, NAME_PAIR, TYPE, PAIR, BODY)                      \
  LAB_DEVICE TYPE NAME(TYPE first, TYPE second, TYPE third) {                  \
    const float a = first, b = second, c = third;                              \
    return TYPE(static_cast<float>(BODY));                                     \
  }                                                                            \
  LAB_DEVICE PAIR NAME_PAIR(PAIR a, PAIR b, PAIR c) { return PAIR(NAME(a.x, b.x, c.x), NAME(a.y, b.y, c.y)); }

#define LAB_16_FUNCTIONS(TYPE, PAIR)                                           \
  LAB_16_FLOAT_2(__hdiv, __h2div, TYPE, PAIR, a / b)                           \
  LAB_16_FLOAT_2(__hadd_sat, __hadd2_sat, TYPE, PAIR, __saturatef(a + b))      \
  LAB_16_FLOAT_2(__hsub_sat, __hsub2_sat, TYPE, PAIR, __saturatef(a - b))      \
  LAB_16_FLOAT_2(__hmul_sat, __hmul2_sat, TYPE, PAIR, __saturatef(a * b))      \
  LAB_DEVICE TYPE __hfma_sat(TYPE a, TYPE b, TYPE c) { return TYPE(__saturatef(__hfma(a, b, c))); } \
  LAB_DEVICE PAIR __hfma2_sat(PAIR a, PAIR b, PAIR c) {                        \
    return PAIR(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));         \
  }                                                                            \
  LAB_DEVICE PAIR __hcmadd(PAIR a, PAIR b, PAIR c) {                           \
    return PAIR(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))); \
  }                                                                            \
  LAB_16_FLOAT_1(hsqrt, h2sqrt, TYPE, PAIR, sqrtf(a))                          \
  LAB_16_FLOAT_1(hrsqrt, h2rsqrt, TYPE, PAIR, rsqrtf(a))                       \
  LAB_16_FLOAT_1(hrcp, h2rcp, TYPE, PAIR, 1 / a)                               \
  LAB_16_FLOAT_1(hexp, h2exp, TYPE, PAIR, expf(a))                             \
  LAB_16_FLOAT_1(hexp2, h2exp2, TYPE, PAIR, exp2f(a))                          \
  LAB_16_FLOAT_1(hexp10, h2exp10, TYPE, PAIR, __exp10f(a))                     \
  LAB_16_FLOAT_1(hlog, h2log, TYPE, PAIR, logf(a))                             \
  LAB_16_FLOAT_1(hlog2, h2log2, TYPE, PAIR, log2f(a))                          \
  LAB_16_FLOAT_1(hlog10, h2log10, TYPE, PAIR, log2f(a) * LAB_LOG10_2)          \
  LAB_16_FLOAT_1(hsin, h2sin, TYPE, PAIR, sinf(a))                             \
  LAB_16_FLOAT_1(hcos, h2cos, TYPE, PAIR, cosf(a))                             \
  LAB_16_FLOAT_1(htanh, h2tanh, TYPE, PAIR, tanhf(a))                          \
  LAB_16_FLOAT_1(hfloor, h2floor, TYPE, PAIR, floorf(a))                       \
  LAB_16_FLOAT_1(hceil, h2ceil, TYPE, PAIR, ceilf(a))                          \
  LAB_16_FLOAT_1(htrunc, h2trunc, TYPE, PAIR, truncf(a))                       \
  LAB_16_FLOAT_1(hrint, h2rint, TYPE, PAIR, rintf(a))                          \
  LAB_16_FLOAT_1(htanh_approx, h2tanh_approx, TYPE, PAIR, tanhf(a))            \
  LAB_16_FLOAT_2(__hmax_nan, __hmax2_nan, TYPE, PAIR, a != a ? a : b != b ? b : fmaxf(a, b)) \
  LAB_16_FLOAT_2(__hmin_nan, __hmin2_nan, TYPE, PAIR, a != a ? a : b != b ? b : fminf(a, b))

// ---- Comparisons ----

#define LAB_16_COMPARE(NAME, TYPE, PAIR, BODY)                                 \
  LAB_DEVICE bool __h##NAME(TYPE left, TYPE right) {                           \
    const float a = left, b = right;                                           \
    return BODY;                                                               \
  }                                                                            \
  LAB_DEVICE PAIR __h##NAME##2(PAIR a, PAIR b) {                               \
    return PAIR(TYPE(__h##NAME(a.x, b.x) ? 1.f : 0.f), TYPE(__h##NAME(a.y, b.y) ? 1.f : 0.f)); \
  }                                                                            \
  LAB_DEVICE unsigned __h##NAME##2_mask(PAIR a, PAIR b) {                      \
    return (__h##NAME(a.x, b.x) ? 0xffffu : 0u) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0u); \
  }                                                                            \
  LAB_DEVICE bool __hb##NAME##2(PAIR a, PAIR b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }
#define LAB_16_COMPARISONS(TYPE, PAIR)                                         \
  LAB_16_COMPARE(eq, TYPE, PAIR, a == b)                                       \
  LAB_16_COMPARE(ne, TYPE, PAIR, a < b || a > b)                               \
  LAB_16_COMPARE(lt, TYPE, PAIR, a < b)                                        \
  LAB_16_COMPARE(le, TYPE, PAIR, a <= b)                                       \
  LAB_16_COMPARE(gt, TYPE, PAIR, a > b)                                        \
  LAB_16_COMPARE(ge, TYPE, PAIR, a >= b)                                       \
  LAB_16_COMPARE(equ, TYPE, PAIR, !(a < b || a > b))                           \
  LAB_16_COMPARE(neu, TYPE, PAIR, a != b)                                      \
  LAB_16_COMPARE(ltu, TYPE, PAIR, !(a >= b))                                   \
  LAB_16_COMPARE(leu, TYPE, PAIR, !(a > b))                                    \
  LAB_16_COMPARE(gtu, TYPE, PAIR, !(a <= b))                                   \
  LAB_16_COMPARE(geu, TYPE, PAIR, !(a < b))                                    \
  LAB_DEVICE bool __hisnan(TYPE a) { return (a.__x & 0x7fff) > lab_infinite(a); } \
  LAB_DEVICE int __hisinf(TYPE a) { return (a.__x & 0x7fff) != lab_infinite(a) ? 0 : a.__x >> 15 ? -1 : 1; } \
  LAB_DEVICE PAIR __hisnan2(PAIR a) { return PAIR(TYPE(__hisnan(a.x) ? 1.f : 0.f), TYPE(__hisnan(a.y) ? 1.f : 0.f)); }

// ---- Operators ----

#define LAB_16_OPERATOR(SIGN, NAME, TYPE)                                      \
  LAB_DEVICE TYPE operator SIGN(const TYPE& a, const TYPE& b) { return NAME(a, b); } \
  LAB_DEVICE TYPE& operator SIGN##=(TYPE& a, const TYPE& b) { return a = NAME(a, b); }
#define LAB_16_STEP(SIGN, BY, TYPE, ONE)                                       \
  LAB_DEVICE TYPE& operator SIGN(TYPE& a) { return a = a BY ONE; }             \
  LAB_DEVICE TYPE operator SIGN(TYPE& a, int) {                                \
    const TYPE before = a;                                                     \
    a = a BY ONE;                                                              \
    return before;                                                             \
  }
#define LAB_16_RELATION(SIGN, NAME, NAME_PAIR, TYPE, PAIR)                     \
  LAB_DEVICE bool operator SIGN(const TYPE& a, const TYPE& b) { return NAME(a, b); } \
  LAB_DEVICE bool operator SIGN(const PAIR& a, const PAIR& b) { return NAME_PAIR(a, b); }
#define LAB_16_OPERATORS(TYPE, PAIR)                                           \
  LAB_16_OPERATOR(+, __hadd, TYPE)                                             \
  LAB_16_OPERATOR(-, __hsub, TYPE)                                             \
  LAB_16_OPERATOR(*, __hmul, TYPE)                                             \
  LAB_16_OPERATOR(/, __hdiv, TYPE)                                             \
  LAB_16_OPERATOR(+, __hadd2, PAIR)                                            \
  LAB_16_OPERATOR(-, __hsub2, PAIR)                                            \
  LAB_16_OPERATOR(*, __hmul2, PAIR)                                            \
  LAB_16_OPERATOR(/, __h2div, PAIR)                                            \
  LAB_DEVICE TYPE operator+(const TYPE& a) { return a; }                       \
  LAB_DEVICE TYPE operator-(const TYPE& a) { return __hneg(a); }               \
  LAB_DEVICE PAIR operator+(const PAIR& a) { return a; }                       \
  LAB_DEVICE PAIR operator-(const PAIR& a) { return __hneg2(a); }              \
  LAB_16_STEP(++, +, TYPE, TYPE(1.f))                                          \
  LAB_16_STEP(--, -, TYPE, TYPE(1.f))                                          \
  LAB_16_STEP(++, +, PAIR, PAIR(TYPE(1.f), TYPE(1.f)))                         \
  LAB_16_STEP(--, -, PAIR, PAIR(TYPE(1.f), TYPE(1.f)))                         \
  LAB_16_RELATION(==, __heq, __hbeq2, TYPE, PAIR)                              \
  LAB_16_RELATION(!=, __hneu, __hbneu2, TYPE, PAIR)                            \
  LAB_16_RELATION(<, __hlt, __hblt2, TYPE, PAIR)                               \
  LAB_16_RELATION(<=, __hle, __hble2, TYPE, PAIR)                              \
  LAB_16_RELATION(>, __hgt, __hbgt2, TYPE, PAIR)                               \
  LAB_16_RELATION(>=, __hge, __hbge2, TYPE, PAIR)

// ---- Warps and memory ----

#define LAB_16_SHUFFLE(NAME, WHICH, TYPE, PAIR)                                \
  LAB_DEVICE TYPE NAME(unsigned lanes, TYPE value, WHICH which, int width = 32) { \
    return lab_number(TYPE(), static_cast<unsigned short>(NAME(lanes, static_cast<unsigned>(value.__x), which, width))); \
  }                                                                            \
  LAB_DEVICE PAIR NAME(unsigned lanes, PAIR value, WHICH which, int width = 32) { \
    return lab_pair(PAIR(), NAME(lanes, lab_bits(value), which, width));       \
  }
#define LAB_16_LOAD(NAME, TYPE, PAIR)                                          \
  LAB_DEVICE TYPE NAME(const TYPE* at) {                                       \
    return lab_number(TYPE(), NAME(reinterpret_cast<const unsigned short*>(at))); \
  }                                                                            \
  LAB_DEVICE PAIR NAME(const PAIR* at) { return lab_pair(PAIR(), NAME(reinterpret_cast<const unsigned*>(at))); }
#define LAB_16_STORE(NAME, TYPE, PAIR)                                         \
  LAB_DEVICE void NAME(TYPE* at, TYPE value) { NAME(reinterpret_cast<unsigned short*>(at), value.__x); } \
  LAB_DEVICE void NAME(PAIR* at, PAIR value) { NAME(reinterpret_cast<unsigned*>(at), lab_bits(value)); }
#define LAB_16_IN_WARPS_AND_MEMORY(TYPE, PAIR)                                 \
  LAB_16_SHUFFLE(__shfl_sync, int, TYPE, PAIR)                                 \
  LAB_16_SHUFFLE(__shfl_xor_sync, int, TYPE, PAIR)                             \
  LAB_16_SHUFFLE(__shfl_down_sync, unsigned, TYPE, PAIR)                       \
  LAB_16_SHUFFLE(__shfl_up_sync, unsigned, TYPE, PAIR)                         \
  LAB_16_LOAD(__ldg, TYPE, PAIR)                                               \
  LAB_16_LOAD(__ldca, TYPE, PAIR)                                              \
  LAB_16_LOAD(__ldcg, TYPE, PAIR)                                              \
  LAB_16_LOAD(__ldcs, TYPE, PAIR)                                              \
  LAB_16_LOAD(__ldcv, TYPE, PAIR)                                              \
  LAB_16_LOAD(__ldlu, TYPE, PAIR)                                              \
  LAB_16_STORE(__stwb, TYPE, PAIR)                                             \
  LAB_16_STORE(__stcg, TYPE, PAIR)                                             \
  LAB_16_STORE(__stcs, TYPE, PAIR)                                             \
  LAB_16_STORE(__stwt, TYPE, PAIR)

// PTX: such as "noftz.f16".
#define LAB_16_ATOMIC_ADD(TYPE, PAIR, PTX)                                     \
  LAB_DEVICE TYPE atomicAdd(TYPE* at, TYPE value) {                            \
    unsigned short before;                                                     \
    asm volatile("atom.add." PTX " %0, [%1], %2;" : "=h"(before) : "l"(at), "h"(value.__x) : "memory"); \
    return lab_number(TYPE(), before);                                         \
  }                                                                            \
  LAB_DEVICE PAIR atomicAdd(PAIR* at, PAIR value) {                            \
    unsigned before;                                                           \
    asm volatile("atom.add." PTX "x2 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(lab_bits(value)) : "memory"); \
    return lab_pair(PAIR(), before);                                           \
  }

// ---- Pairs and whole numbers. ONE, TWO, MANY: as names call the number and the pair, such as half, half2, halves ----

#define LAB_16_PAIRS(TYPE, PAIR, ONE, TWO, MANY)                               \
  LAB_DEVICE PAIR __##MANY##2##TWO(TYPE low, TYPE high) { return PAIR(low, high); } \
  LAB_DEVICE PAIR __##ONE##2##TWO(TYPE both) { return PAIR(both, both); }      \
  LAB_DEVICE PAIR make_##TWO(TYPE low, TYPE high) { return PAIR(low, high); }  \
  LAB_DEVICE TYPE __low2##ONE(PAIR pair) { return pair.x; }                    \
  LAB_DEVICE TYPE __high2##ONE(PAIR pair) { return pair.y; }                   \
  LAB_DEVICE PAIR __low2##TWO(PAIR pair) { return PAIR(pair.x, pair.x); }      \
  LAB_DEVICE PAIR __high2##TWO(PAIR pair) { return PAIR(pair.y, pair.y); }     \
  LAB_DEVICE PAIR __lows2##TWO(PAIR a, PAIR b) { return PAIR(a.x, b.x); }      \
  LAB_DEVICE PAIR __highs2##TWO(PAIR a, PAIR b) { return PAIR(a.y, b.y); }     \
  LAB_DEVICE PAIR __lowhigh2highlow(PAIR pair) { return PAIR(pair.y, pair.x); } \
  LAB_DEVICE float __low2float(PAIR pair) { return float(pair.x); }            \
  LAB_DEVICE float __high2float(PAIR pair) { return float(pair.y); }           \
  LAB_DEVICE short __##ONE##_as_short(TYPE a) { return static_cast<short>(a.__x); } \
  LAB_DEVICE unsigned short __##ONE##_as_ushort(TYPE a) { return a.__x; }      \
  LAB_DEVICE TYPE __short_as_##ONE(short a) { return lab_number(TYPE(), static_cast<unsigned short>(a)); } \
  LAB_DEVICE TYPE __ushort_as_##ONE(unsigned short a) { return lab_number(TYPE(), a); }
#define LAB_16_TO_WHOLE(NAME, TYPE, WHOLE, ROUNDED)                            \
  LAB_DEVICE WHOLE NAME##_rn(TYPE a) { return static_cast<WHOLE>(ROUNDED##_rn(float(a))); } \
  LAB_DEVICE WHOLE NAME##_rz(TYPE a) { return static_cast<WHOLE>(ROUNDED##_rz(float(a))); } \
  LAB_DEVICE WHOLE NAME##_ru(TYPE a) { return static_cast<WHOLE>(ROUNDED##_ru(float(a))); } \
  LAB_DEVICE WHOLE NAME##_rd(TYPE a) { return static_cast<WHOLE>(ROUNDED##_rd(float(a))); }
// The conversions of TO lose nothing of what `lab_odd` gives.
#define LAB_16_FROM_WHOLE(NAME, TYPE, WHOLE, TO)                               \
  LAB_DEVICE TYPE NAME##_rn(WHOLE a) { return TYPE(a); }                       \
  LAB_DEVICE TYPE NAME##_rz(WHOLE a) { return TO##_rz(lab_odd(lab_plain(a))); } \
  LAB_DEVICE TYPE NAME##_ru(WHOLE a) { return TO##_ru(lab_odd(lab_plain(a))); } \
  LAB_DEVICE TYPE NAME##_rd(WHOLE a) { return TO##_rd(lab_odd(lab_plain(a))); }
#define LAB_16_WHOLE_NUMBERS(TYPE, ONE)                                        \
  LAB_DEVICE signed char __##ONE##2char_rz(TYPE a) { return lab_limited<signed char>(a); } \
  LAB_DEVICE unsigned char __##ONE##2uchar_rz(TYPE a) { return lab_limited<unsigned char>(a); } \
  LAB_16_TO_WHOLE(__##ONE##2int, TYPE, int, __float2int)                       \
  LAB_16_TO_WHOLE(__##ONE##2uint, TYPE, unsigned, __float2uint)                \
  LAB_16_TO_WHOLE(__##ONE##2short, TYPE, short, lab_float2short)               \
  LAB_16_TO_WHOLE(__##ONE##2ushort, TYPE, unsigned short, lab_float2ushort)    \
  LAB_16_TO_WHOLE(__##ONE##2ll, TYPE, long long, __float2ll)                   \
  LAB_16_TO_WHOLE(__##ONE##2ull, TYPE, unsigned long long, __float2ull)        \
  LAB_16_FROM_WHOLE(__int2##ONE, TYPE, int, __float2##ONE)                     \
  LAB_16_FROM_WHOLE(__uint2##ONE, TYPE, unsigned, __float2##ONE)               \
  LAB_16_FROM_WHOLE(__short2##ONE, TYPE, short, __float2##ONE)                 \
  LAB_16_FROM_WHOLE(__ushort2##ONE, TYPE, unsigned short, __float2##ONE)       \
  LAB_16_FROM_WHOLE(__ll2##ONE, TYPE, long long, __float2##ONE)                \
  LAB_16_FROM_WHOLE(__ull2##ONE, TYPE, unsigned long long, __float2##ONE)
