// char1 … double4 and dim3. Facts: CUDA C++ Programming Guide, “Built-in Vector Types”.
#pragma once

// nvcc copies a vector with one instruction. clang would split the copy of a plain structure into its members, so the
// copy constructor and the assignment move a vector of the compiler's own.
#define LAB_ONE_COPY(NAME, TYPE, COUNT)                                        \
  typedef TYPE lab_vector __attribute__((ext_vector_type(COUNT)));             \
  NAME() = default;                                                            \
  LAB_BOTH NAME(const NAME& other) {                                           \
    *reinterpret_cast<lab_vector*>(this) = *reinterpret_cast<const lab_vector*>(&other); \
  }                                                                            \
  LAB_BOTH NAME& operator=(const NAME& other) {                                \
    *reinterpret_cast<lab_vector*>(this) = *reinterpret_cast<const lab_vector*>(&other); \
    return *this;                                                              \
  }

// The copy is one of bytes all the same, and libcu++ may take it for that.
template <class Type, class = void>
constexpr bool lab_copied_as_bytes = false;
template <class Type>
constexpr bool lab_copied_as_bytes<Type, decltype(void(sizeof(typename Type::lab_vector)))> = true;
#define __is_trivially_copyable(...) (__is_trivially_copyable(__VA_ARGS__) || lab_copied_as_bytes<__VA_ARGS__>)

#define LAB_VECTOR_1(NAME, TYPE)                                               \
  struct NAME {                                                                \
    TYPE x;                                                                    \
  };                                                                           \
  LAB_BOTH constexpr NAME make_##NAME(TYPE x) { return {x}; }

// The constructors have defaults because a list such as {0} may leave members out.
#define LAB_VECTOR_2(NAME, TYPE, BYTES)                                        \
  struct __attribute__((aligned(BYTES))) NAME {                                \
    TYPE x, y;                                                                 \
    LAB_ONE_COPY(NAME, TYPE, 2)                                                \
    LAB_BOTH constexpr NAME(TYPE x, TYPE y = 0) : x(x), y(y) {}                \
  };                                                                           \
  LAB_BOTH constexpr NAME make_##NAME(TYPE x, TYPE y) { return NAME(x, y); }

#define LAB_VECTOR_3(NAME, TYPE)                                               \
  struct NAME {                                                                \
    TYPE x, y, z;                                                              \
  };                                                                           \
  LAB_BOTH constexpr NAME make_##NAME(TYPE x, TYPE y, TYPE z) { return {x, y, z}; }

#define LAB_VECTOR_4(NAME, TYPE, BYTES)                                        \
  struct __attribute__((aligned(BYTES))) NAME {                                \
    TYPE x, y, z, w;                                                           \
    LAB_ONE_COPY(NAME, TYPE, 4)                                                \
    LAB_BOTH constexpr NAME(TYPE x, TYPE y = 0, TYPE z = 0, TYPE w = 0) : x(x), y(y), z(z), w(w) {} \
  };                                                                           \
  LAB_BOTH constexpr NAME make_##NAME(TYPE x, TYPE y, TYPE z, TYPE w) { return NAME(x, y, z, w); }

#define LAB_VECTORS(NAME, TYPE, BYTES_2, BYTES_4)                              \
  LAB_VECTOR_1(NAME##1, TYPE)                                                  \
  LAB_VECTOR_2(NAME##2, TYPE, BYTES_2)                                         \
  LAB_VECTOR_3(NAME##3, TYPE)                                                  \
  LAB_VECTOR_4(NAME##4, TYPE, BYTES_4)

LAB_VECTORS(char, signed char, 2, 4)
LAB_VECTORS(uchar, unsigned char, 2, 4)
LAB_VECTORS(short, short, 4, 8)
LAB_VECTORS(ushort, unsigned short, 4, 8)
LAB_VECTORS(int, int, 8, 16)
LAB_VECTORS(uint, unsigned, 8, 16)
LAB_VECTORS(long, long, 16, 16)
LAB_VECTORS(ulong, unsigned long, 16, 16)
LAB_VECTORS(longlong, long long, 16, 16)
LAB_VECTORS(ulonglong, unsigned long long, 16, 16)
LAB_VECTORS(float, float, 8, 16)
LAB_VECTORS(double, double, 16, 16)

// Those of 32 bytes, by their alignment.
#define LAB_LONG_VECTORS(NAME, TYPE)                                           \
  LAB_VECTOR_4(NAME##4_16a, TYPE, 16)                                          \
  LAB_VECTOR_4(NAME##4_32a, TYPE, 32)
LAB_LONG_VECTORS(long, long)
LAB_LONG_VECTORS(ulong, unsigned long)
LAB_LONG_VECTORS(longlong, long long)
LAB_LONG_VECTORS(ulonglong, unsigned long long)
LAB_LONG_VECTORS(double, double)

struct dim3 {
  unsigned x, y, z;
  LAB_BOTH constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  template <class Type, int = sizeof(char[__is_same(Type, uint3) ? 1 : -1])>
  LAB_BOTH constexpr dim3(Type from) : x(from.x), y(from.y), z(from.z) {}
  LAB_BOTH constexpr operator uint3() const { return {x, y, z}; }
};
