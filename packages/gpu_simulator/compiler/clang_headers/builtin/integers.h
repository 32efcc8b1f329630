// Functions on integers, their bits and their bytes. Facts: CUDA Math API, “Integer Intrinsics”, “Type Casting Intrinsics”.
#pragma once

// ---- The least and the most ----

template <bool, class Type = void>
struct lab_if {};
template <class Type>
struct lab_if<true, Type> {
  typedef Type type;
};
template <class First, class Second>
constexpr bool lab_same = __is_same(First, Second);
template <class Type>
constexpr bool lab_whole = __is_integral(Type);
template <class Type>
constexpr bool lab_real = __is_floating_point(Type);

#define LAB_LEAST_AND_MOST(TYPE)                                               \
  LAB_BOTH constexpr TYPE min(TYPE a, TYPE b) { return a < b ? a : b; }        \
  LAB_BOTH constexpr TYPE max(TYPE a, TYPE b) { return a > b ? a : b; }
LAB_LEAST_AND_MOST(int)
LAB_LEAST_AND_MOST(unsigned)
LAB_LEAST_AND_MOST(long)
LAB_LEAST_AND_MOST(unsigned long)
LAB_LEAST_AND_MOST(long long)
LAB_LEAST_AND_MOST(unsigned long long)
LAB_BOTH constexpr float min(float a, float b) { return __builtin_fminf(a, b); }
LAB_BOTH constexpr float max(float a, float b) { return __builtin_fmaxf(a, b); }
LAB_BOTH constexpr double min(double a, double b) { return __builtin_fmin(a, b); }
LAB_BOTH constexpr double max(double a, double b) { return __builtin_fmax(a, b); }
// Of two types; other pairs are ambiguous, as for nvcc.
#define LAB_OF_TWO_TYPES(A, B, TYPE)                                           \
  LAB_BOTH constexpr TYPE min(A a, B b) { return min(static_cast<TYPE>(a), static_cast<TYPE>(b)); } \
  LAB_BOTH constexpr TYPE max(A a, B b) { return max(static_cast<TYPE>(a), static_cast<TYPE>(b)); } \
  LAB_BOTH constexpr TYPE min(B a, A b) { return min(static_cast<TYPE>(a), static_cast<TYPE>(b)); } \
  LAB_BOTH constexpr TYPE max(B a, A b) { return max(static_cast<TYPE>(a), static_cast<TYPE>(b)); }
LAB_OF_TWO_TYPES(int, unsigned, unsigned)
LAB_OF_TWO_TYPES(long, unsigned long, unsigned long)
LAB_OF_TWO_TYPES(long long, unsigned long long, unsigned long long)
LAB_OF_TWO_TYPES(float, double, double)
LAB_BOTH unsigned umin(unsigned a, unsigned b) { return min(a, b); }
LAB_BOTH unsigned umax(unsigned a, unsigned b) { return max(a, b); }
LAB_BOTH long long llmin(long long a, long long b) { return min(a, b); }
LAB_BOTH long long llmax(long long a, long long b) { return max(a, b); }
LAB_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
LAB_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

LAB_BOTH constexpr int abs(int a) { return a < 0 ? -a : a; }
LAB_BOTH constexpr long abs(long a) { return a < 0 ? -a : a; }
LAB_BOTH constexpr long long abs(long long a) { return a < 0 ? -a : a; }
LAB_BOTH constexpr long labs(long a) { return abs(a); }
LAB_BOTH constexpr long long llabs(long long a) { return abs(a); }

// ---- Products ----

LAB_BOTH int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
LAB_BOTH unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
LAB_DEVICE long long __mul64hi(long long a, long long b) {
  long long high;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(high) : "l"(a), "l"(b));
  return high;
}
LAB_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  unsigned long long high;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(high) : "l"(a), "l"(b));
  return high;
}
LAB_DEVICE int __mul24(int a, int b) {
  int product;
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
LAB_DEVICE unsigned __umul24(unsigned a, unsigned b) {
  unsigned product;
  asm("mul24.lo.u32 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
#define mul24 __mul24
#define umul24 __umul24

#define LAB_DOT(NAME, TYPE_A, TYPE_B, TYPE, PTX)                               \
  LAB_DEVICE TYPE NAME(TYPE_A a, TYPE_B b, TYPE c) {                           \
    TYPE sum;                                                                  \
    asm(PTX " %0, %1, %2, %3;"                                                 \
        : "=r"(sum)                                                            \
        : "r"(*reinterpret_cast<int*>(&a)), "r"(*reinterpret_cast<int*>(&b)), "r"(c)); \
    return sum;                                                                \
  }
LAB_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
LAB_DOT(__dp4a, unsigned, unsigned, unsigned, "dp4a.u32.u32")
LAB_DOT(__dp4a, char4, char4, int, "dp4a.s32.s32")
LAB_DOT(__dp4a, uchar4, uchar4, unsigned, "dp4a.u32.u32")
LAB_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
LAB_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
LAB_DOT(__dp2a_lo, unsigned, unsigned, unsigned, "dp2a.lo.u32.u32")
LAB_DOT(__dp2a_lo, short2, char4, int, "dp2a.lo.s32.s32")
LAB_DOT(__dp2a_hi, short2, char4, int, "dp2a.hi.s32.s32")
LAB_DOT(__dp2a_lo, ushort2, uchar4, unsigned, "dp2a.lo.u32.u32")
LAB_DOT(__dp2a_hi, ushort2, uchar4, unsigned, "dp2a.hi.u32.u32")
LAB_DOT(__dp2a_hi, unsigned, unsigned, unsigned, "dp2a.hi.u32.u32")

// ---- Sums, averages, differences ----

LAB_BOTH unsigned __sad(int a, int b, unsigned c) { return (a < b ? b - a : a - b) + c; }
LAB_BOTH unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
LAB_BOTH int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
LAB_BOTH int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
LAB_BOTH unsigned __uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
LAB_BOTH unsigned __urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }

// ---- Bits ----

LAB_BOTH int __ffs(int x) { return __builtin_ffs(x); }
LAB_BOTH int __ffsll(long long x) { return __builtin_ffsll(x); }
LAB_BOTH int __popc(unsigned x) { return __builtin_popcount(x); }
LAB_BOTH int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
LAB_BOTH int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
LAB_BOTH int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
LAB_BOTH unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
LAB_BOTH unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// The place of the bit of a mask that is `number` bits, of those that are set, from `from`; from 1 at `from` itself.
LAB_BOTH unsigned __fns(unsigned mask, unsigned from, int number) {
  if (number == 0) return from < 32 && mask >> from & 1 ? from : 0xffffffffu;
  int left = number < 0 ? -number : number;
  for (unsigned at = from; at < 32; at += number > 0 ? 1 : -1)
    if (mask >> at & 1 && --left == 0) return at;
  return 0xffffffffu;
}
LAB_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned chosen;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(chosen) : "r"(a), "r"(b), "r"(selector & 0x7777));
  return chosen;
}
#define LAB_FUNNEL(NAME, PTX)                                                  \
  LAB_DEVICE unsigned NAME(unsigned low, unsigned high, unsigned count) {      \
    unsigned shifted;                                                          \
    asm(PTX " %0, %1, %2, %3;" : "=r"(shifted) : "r"(low), "r"(high), "r"(count)); \
    return shifted;                                                            \
  }
LAB_FUNNEL(__funnelshift_l, "shf.l.wrap.b32")
LAB_FUNNEL(__funnelshift_r, "shf.r.wrap.b32")
LAB_FUNNEL(__funnelshift_lc, "shf.l.clamp.b32")
LAB_FUNNEL(__funnelshift_rc, "shf.r.clamp.b32")

// ---- The same bits as another type ----

LAB_BOTH unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
LAB_BOTH int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
LAB_BOTH float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
LAB_BOTH float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
LAB_BOTH long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
LAB_BOTH double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
LAB_BOTH int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
LAB_BOTH int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
LAB_BOTH double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

// ---- Bytes and halves of a word, each on its own ----

// A whole number as one of another type, whose limits it keeps.
template <class Type>
LAB_BOTH Type lab_within(int x) {
  constexpr bool with_sign = static_cast<Type>(-1) < static_cast<Type>(0);
  constexpr int most = (1 << (8 * sizeof(Type) - with_sign)) - 1, least = with_sign ? -most - 1 : 0;
  return static_cast<Type>(x < least ? least : x > most ? most : x);
}
// TYPE x, y: the parts.   JOIN: puts one into the result.
#define LAB_PARTS_JOINED(NAME, ARGUMENTS, SECOND, COUNT, TYPE, BODY, JOIN)     \
  LAB_BOTH unsigned NAME##COUNT ARGUMENTS {                                    \
    unsigned result = 0;                                                       \
    _Pragma("unroll") for (int i = 0; i < 32; i += 32 / COUNT) {               \
      [[maybe_unused]] const TYPE x = static_cast<TYPE>(a >> i), y = static_cast<TYPE>(SECOND >> i); \
      const unsigned part = static_cast<unsigned>(BODY) & 0xffffffffu >> (32 - 32 / COUNT); \
      JOIN;                                                                    \
    }                                                                          \
    return result;                                                             \
  }
#define LAB_PARTS(NAME, COUNT, TYPE, BODY) \
  LAB_PARTS_JOINED(NAME, (unsigned a, unsigned b), b, COUNT, TYPE, BODY, result |= part << i)
#define LAB_BYTES_AND_HALVES(NAME, BYTE, HALF, BODY) \
  LAB_PARTS(NAME, 4, BYTE, BODY)                     \
  LAB_PARTS(NAME, 2, HALF, BODY)
LAB_BYTES_AND_HALVES(__vadd, unsigned char, unsigned short, x + y)
LAB_BYTES_AND_HALVES(__vsub, unsigned char, unsigned short, x - y)
LAB_BYTES_AND_HALVES(__vminu, unsigned char, unsigned short, x < y ? x : y)
LAB_BYTES_AND_HALVES(__vmaxu, unsigned char, unsigned short, x > y ? x : y)
LAB_BYTES_AND_HALVES(__vmins, signed char, short, x < y ? x : y)
LAB_BYTES_AND_HALVES(__vmaxs, signed char, short, x > y ? x : y)
LAB_BYTES_AND_HALVES(__vabsdiffu, unsigned char, unsigned short, x < y ? y - x : x - y)
LAB_BYTES_AND_HALVES(__vavgu, unsigned char, unsigned short, (x + y + 1) >> 1)
LAB_BYTES_AND_HALVES(__vcmpeq, unsigned char, unsigned short, -(x == y))
LAB_BYTES_AND_HALVES(__vcmpne, unsigned char, unsigned short, -(x != y))
LAB_BYTES_AND_HALVES(__vcmpgtu, unsigned char, unsigned short, -(x > y))
LAB_BYTES_AND_HALVES(__vcmpltu, unsigned char, unsigned short, -(x < y))
LAB_BYTES_AND_HALVES(__vcmpgts, signed char, short, -(x > y))
LAB_BYTES_AND_HALVES(__vcmplts, signed char, short, -(x < y))
LAB_BYTES_AND_HALVES(__vseteq, unsigned char, unsigned short, x == y)
#define LAB_PARTS_OF_ONE(NAME, BODY)                                           \
  LAB_PARTS_JOINED(NAME, (unsigned a), a, 4, signed char, BODY, result |= part << i) \
  LAB_PARTS_JOINED(NAME, (unsigned a), a, 2, short, BODY, result |= part << i)
#define LAB_SUM_OF_PARTS(NAME, BYTE, HALF)                                     \
  LAB_PARTS_JOINED(NAME, (unsigned a, unsigned b), b, 4, BYTE, x < y ? y - x : x - y, result += part) \
  LAB_PARTS_JOINED(NAME, (unsigned a, unsigned b), b, 2, HALF, x < y ? y - x : x - y, result += part)
LAB_PARTS_OF_ONE(__vneg, -x)
LAB_PARTS_OF_ONE(__vnegss, lab_within<decltype(y)>(-x))
LAB_PARTS_OF_ONE(__vabs, x < 0 ? -x : x)
LAB_PARTS_OF_ONE(__vabsss, lab_within<decltype(y)>(x < 0 ? -x : x))
LAB_SUM_OF_PARTS(__vsads, signed char, short)
LAB_SUM_OF_PARTS(__vsadu, unsigned char, unsigned short)
LAB_BYTES_AND_HALVES(__vaddss, signed char, short, lab_within<decltype(y)>(x + y))
LAB_BYTES_AND_HALVES(__vsubss, signed char, short, lab_within<decltype(y)>(x - y))
LAB_BYTES_AND_HALVES(__vaddus, unsigned char, unsigned short, lab_within<decltype(y)>(x + y))
LAB_BYTES_AND_HALVES(__vsubus, unsigned char, unsigned short, lab_within<decltype(y)>(x - y))
LAB_BYTES_AND_HALVES(__vavgs, signed char, short, (x + y + (x + y >= 0)) >> 1)
LAB_BYTES_AND_HALVES(__vabsdiffs, signed char, short, x < y ? y - x : x - y)
LAB_BYTES_AND_HALVES(__vcmpges, signed char, short, -(x >= y))
LAB_BYTES_AND_HALVES(__vcmpgeu, unsigned char, unsigned short, -(x >= y))
LAB_BYTES_AND_HALVES(__vcmples, signed char, short, -(x <= y))
LAB_BYTES_AND_HALVES(__vcmpleu, unsigned char, unsigned short, -(x <= y))
LAB_BYTES_AND_HALVES(__vsetne, unsigned char, unsigned short, x != y)
LAB_BYTES_AND_HALVES(__vsetges, signed char, short, x >= y)
LAB_BYTES_AND_HALVES(__vsetgeu, unsigned char, unsigned short, x >= y)
LAB_BYTES_AND_HALVES(__vsetgts, signed char, short, x > y)
LAB_BYTES_AND_HALVES(__vsetgtu, unsigned char, unsigned short, x > y)
LAB_BYTES_AND_HALVES(__vsetles, signed char, short, x <= y)
LAB_BYTES_AND_HALVES(__vsetleu, unsigned char, unsigned short, x <= y)
LAB_BYTES_AND_HALVES(__vsetlts, signed char, short, x < y)
LAB_BYTES_AND_HALVES(__vsetltu, unsigned char, unsigned short, x < y)

// The largest or least of up to three words, or of their halves.
#define LAB_VI(NAME, RELU, WORD, HALF, KIND, BODY)                             \
  LAB_BOTH WORD NAME##_##KIND##32##RELU(WORD x, WORD y, WORD z) {              \
    typedef WORD Part;                                                         \
    return BODY;                                                               \
  }                                                                            \
  LAB_BOTH unsigned NAME##_##KIND##16x2##RELU(unsigned a, unsigned b, unsigned c) { \
    typedef HALF Part;                                                         \
    unsigned result = 0;                                                       \
    _Pragma("unroll") for (int i = 0; i < 32; i += 16) {                       \
      const HALF x = static_cast<HALF>(a >> i), y = static_cast<HALF>(b >> i), z = static_cast<HALF>(c >> i); \
      result |= (static_cast<unsigned>(BODY) & 0xffffu) << i;                  \
    }                                                                          \
    return result;                                                             \
  }
#define LAB_VI_TYPES(NAME, PICK, FIRST)                                        \
  LAB_VI(NAME, , int, short, s, PICK(FIRST, z))                                \
  LAB_VI(NAME, _relu, int, short, s, max(PICK(FIRST, z), 0))                   \
  LAB_VI(NAME, , unsigned, unsigned short, u, PICK(FIRST, z))
#define LAB_SUM static_cast<Part>(static_cast<unsigned>(x) + static_cast<unsigned>(y))
LAB_VI_TYPES(__viaddmax, max, LAB_SUM)
LAB_VI_TYPES(__viaddmin, min, LAB_SUM)
LAB_VI_TYPES(__vimax3, max, max(x, y))
LAB_VI_TYPES(__vimin3, min, min(x, y))
LAB_BOTH int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
LAB_BOTH int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
LAB_BOTH unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(a, b, 0); }
LAB_BOTH unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(__vmins2(a, b), 0, 0); }
#define LAB_VIB(NAME, TYPE, SIGN)                                              \
  LAB_BOTH TYPE NAME(TYPE a, TYPE b, bool* first) {                            \
    *first = a SIGN b;                                                         \
    return *first ? a : b;                                                     \
  }
LAB_VIB(__vibmax_s32, int, >=)
LAB_VIB(__vibmin_s32, int, <=)
LAB_VIB(__vibmax_u32, unsigned, >=)
LAB_VIB(__vibmin_u32, unsigned, <=)
