// nvcuda::wmma, matrices of a warp. Facts: PTX ISA, “wmma.load”, “wmma.mma”, “wmma.store”; CUDA C++ Programming Guide,
// “Warp Matrix Functions”. A fragment holds the registers of the instructions as an array of its elements.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

template <class Use, int M, int N, int K, class Type, class Layout = void>
struct fragment;
template <class Type, int Count>
struct alignas(8) lab_elements {
  typedef Type element_type;
  typedef Type storage_element_type;
  static constexpr int num_elements = Count, num_storage_elements = Count;
  Type x[Count];
};
template <class Fragment, class Value>
LAB_DEVICE void fill_fragment(Fragment& to, const Value& value) {
#pragma unroll
  for (int i = 0; i < Fragment::num_elements; i++) to.x[i] = static_cast<typename Fragment::element_type>(value);
}
LAB_DEVICE float __float_to_tf32(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __uint_as_float(bits);
}

// ---- Lists of registers: in the text, as results, as operands. KIND: unsigned, float, int or double ----

#define LAB_TEXT_1(n) "{%[" n "0]}"
#define LAB_TEXT_2(n) "{%[" n "0], %[" n "1]}"
#define LAB_TEXT_4(n) "{%[" n "0], %[" n "1], %[" n "2], %[" n "3]}"
#define LAB_TEXT_8(n) \
  "{%[" n "0], %[" n "1], %[" n "2], %[" n "3], %[" n "4], %[" n "5], %[" n "6], %[" n "7]}"
#define LAB_AT(KIND, of, i) reinterpret_cast<KIND*>(of.x)[i]
#define LAB_IS(KIND, of, i) reinterpret_cast<const KIND*>(of.x)[i]
#define LAB_LIST_1(n, C, KIND, AT, of) [n##0] C(AT(KIND, of, 0))
#define LAB_LIST_2(n, C, KIND, AT, of) LAB_LIST_1(n, C, KIND, AT, of), [n##1] C(AT(KIND, of, 1))
#define LAB_LIST_4(n, C, KIND, AT, of) \
  LAB_LIST_2(n, C, KIND, AT, of), [n##2] C(AT(KIND, of, 2)), [n##3] C(AT(KIND, of, 3))
#define LAB_LIST_8(n, C, KIND, AT, of)                                                   \
  LAB_LIST_4(n, C, KIND, AT, of), [n##4] C(AT(KIND, of, 4)), [n##5] C(AT(KIND, of, 5)), \
      [n##6] C(AT(KIND, of, 6)), [n##7] C(AT(KIND, of, 7))

// ---- Fragments, load and store ----

// TYPE: as the fragment names it.   MEMORY: in memory.   COUNT: of registers, of KIND and with the letter C.
#define LAB_LOAD(USE, LETTER, M, N, K, TYPE, MEMORY, PTX, COUNT, KIND, C, LAYOUT, ORDER) \
  LAB_DEVICE void load_matrix_sync(fragment<USE, M, N, K, TYPE, LAYOUT>& to, const MEMORY* from, unsigned pitch) { \
    asm volatile("wmma.load." LETTER ".sync.aligned." ORDER ".m" #M "n" #N "k" #K "." PTX " " LAB_TEXT_##COUNT("r") \
                 ", [%[at]], %[pitch];"                                        \
                 : LAB_LIST_##COUNT(r, "=" C, KIND, LAB_AT, to)                \
                 : [at] "l"(from), [pitch] "r"(pitch) : "memory");             \
  }
#define LAB_MATRIX(USE, LETTER, M, N, K, TYPE, MEMORY, PTX, ELEMENTS, COUNT, KIND, C) \
  template <class Layout>                                                      \
  struct fragment<USE, M, N, K, TYPE, Layout> : lab_elements<MEMORY, ELEMENTS> {}; \
  LAB_LOAD(USE, LETTER, M, N, K, TYPE, MEMORY, PTX, COUNT, KIND, C, row_major, "row") \
  LAB_LOAD(USE, LETTER, M, N, K, TYPE, MEMORY, PTX, COUNT, KIND, C, col_major, "col")
#define LAB_STORE(M, N, K, TYPE, PTX, COUNT, KIND, C, ORDER)                   \
  asm volatile("wmma.store.d.sync.aligned." ORDER ".m" #M "n" #N "k" #K "." PTX " [%[at]], " LAB_TEXT_##COUNT("r") \
               ", %[pitch];"                                                   \
               ::[at] "l"(to), LAB_LIST_##COUNT(r, C, KIND, LAB_IS, from), [pitch] "r"(pitch) : "memory")
#define LAB_SUMS(M, N, K, TYPE, PTX, ELEMENTS, COUNT, KIND, C)                 \
  template <>                                                                  \
  struct fragment<accumulator, M, N, K, TYPE, void> : lab_elements<TYPE, ELEMENTS> {}; \
  LAB_DEVICE void store_matrix_sync(TYPE* to, const fragment<accumulator, M, N, K, TYPE>& from, unsigned pitch, \
                                    layout_t layout) {                         \
    if (layout == mem_row_major) LAB_STORE(M, N, K, TYPE, PTX, COUNT, KIND, C, "row"); \
    else LAB_STORE(M, N, K, TYPE, PTX, COUNT, KIND, C, "col");                 \
  }                                                                            \
  LAB_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, TYPE>& to, const TYPE* from, unsigned pitch, \
                                   layout_t layout) {                          \
    if (layout == mem_row_major)                                               \
      asm volatile("wmma.load.c.sync.aligned.row.m" #M "n" #N "k" #K "." PTX " " LAB_TEXT_##COUNT("r") ", [%[at]], %[pitch];" \
                   : LAB_LIST_##COUNT(r, "=" C, KIND, LAB_AT, to) : [at] "l"(from), [pitch] "r"(pitch) : "memory"); \
    else                                                                       \
      asm volatile("wmma.load.c.sync.aligned.col.m" #M "n" #N "k" #K "." PTX " " LAB_TEXT_##COUNT("r") ", [%[at]], %[pitch];" \
                   : LAB_LIST_##COUNT(r, "=" C, KIND, LAB_AT, to) : [at] "l"(from), [pitch] "r"(pitch) : "memory"); \
  }

// ---- Multiply ----

// D = A · B + C. PTX: the types of the instruction.   A, B, D, C: numbers of registers.
#define LAB_PRODUCT(M, N, K, TYPE, TO, FROM, PTX, A, B, D, C, KIND, LETTER, KIND_D, LETTER_D, KIND_C, LETTER_C, LA, OA, LB, OB) \
  LAB_DEVICE void mma_sync(fragment<accumulator, M, N, K, TO>& d, const fragment<matrix_a, M, N, K, TYPE, LA>& a, \
                           const fragment<matrix_b, M, N, K, TYPE, LB>& b, const fragment<accumulator, M, N, K, FROM>& c, \
                           bool = false) {                                     \
    asm volatile("wmma.mma.sync.aligned." OA "." OB ".m" #M "n" #N "k" #K "." PTX " " LAB_TEXT_##D("d") ", " \
                 LAB_TEXT_##A("a") ", " LAB_TEXT_##B("b") ", " LAB_TEXT_##C("c") ";" \
                 : LAB_LIST_##D(d, "=" LETTER_D, KIND_D, LAB_AT, d)            \
                 : LAB_LIST_##A(a, LETTER, KIND, LAB_IS, a), LAB_LIST_##B(b, LETTER, KIND, LAB_IS, b), \
                   LAB_LIST_##C(c, LETTER_C, KIND_C, LAB_IS, c));              \
  }
#define LAB_PRODUCTS(...)                                             \
  LAB_PRODUCT(__VA_ARGS__, row_major, "row", row_major, "row")        \
  LAB_PRODUCT(__VA_ARGS__, row_major, "row", col_major, "col")        \
  LAB_PRODUCT(__VA_ARGS__, col_major, "col", row_major, "row")        \
  LAB_PRODUCT(__VA_ARGS__, col_major, "col", col_major, "col")

#define LAB_SHAPE(M, N, K, BF_A, BF_B, BF_A_ELEMENTS, BF_B_ELEMENTS, I_A, I_B)  \
  LAB_MATRIX(matrix_a, "a", M, N, K, half, half, "f16", 16, 8, unsigned, "r")  \
  LAB_MATRIX(matrix_b, "b", M, N, K, half, half, "f16", 16, 8, unsigned, "r")  \
  LAB_MATRIX(matrix_a, "a", M, N, K, __nv_bfloat16, __nv_bfloat16, "bf16", BF_A_ELEMENTS, BF_A, unsigned, "r") \
  LAB_MATRIX(matrix_b, "b", M, N, K, __nv_bfloat16, __nv_bfloat16, "bf16", BF_B_ELEMENTS, BF_B, unsigned, "r") \
  LAB_MATRIX(matrix_a, "a", M, N, K, signed char, signed char, "s8", BF_A_ELEMENTS, I_A, unsigned, "r") \
  LAB_MATRIX(matrix_b, "b", M, N, K, signed char, signed char, "s8", BF_B_ELEMENTS, I_B, unsigned, "r") \
  LAB_MATRIX(matrix_a, "a", M, N, K, unsigned char, unsigned char, "u8", BF_A_ELEMENTS, I_A, unsigned, "r") \
  LAB_MATRIX(matrix_b, "b", M, N, K, unsigned char, unsigned char, "u8", BF_B_ELEMENTS, I_B, unsigned, "r") \
  LAB_SUMS(M, N, K, float, "f32", 8, 8, float, "f")                            \
  LAB_SUMS(M, N, K, half, "f16", 8, 4, unsigned, "r")                          \
  LAB_SUMS(M, N, K, int, "s32", 8, 8, int, "r")                                \
  LAB_PRODUCTS(M, N, K, half, float, float, "f32.f32", 8, 8, 8, 8, unsigned, "r", float, "f", float, "f") \
  LAB_PRODUCTS(M, N, K, half, half, half, "f16.f16", 8, 8, 4, 4, unsigned, "r", unsigned, "r", unsigned, "r") \
  LAB_PRODUCTS(M, N, K, half, float, half, "f32.f16", 8, 8, 8, 4, unsigned, "r", float, "f", unsigned, "r") \
  LAB_PRODUCTS(M, N, K, half, half, float, "f16.f32", 8, 8, 4, 8, unsigned, "r", unsigned, "r", float, "f") \
  LAB_PRODUCTS(M, N, K, __nv_bfloat16, float, float, "f32.bf16.bf16.f32", BF_A, BF_B, 8, 8, unsigned, "r", float, "f", \
               float, "f")                                                     \
  LAB_PRODUCTS(M, N, K, signed char, int, int, "s32.s8.s8.s32", I_A, I_B, 8, 8, unsigned, "r", int, "r", int, "r") \
  LAB_PRODUCTS(M, N, K, unsigned char, int, int, "s32.u8.u8.s32", I_A, I_B, 8, 8, unsigned, "r", int, "r", int, "r")
LAB_SHAPE(16, 16, 16, 4, 4, 8, 8, 2, 2)
LAB_SHAPE(32, 8, 16, 8, 2, 16, 4, 4, 1)
LAB_SHAPE(8, 32, 16, 2, 8, 4, 16, 1, 4)

LAB_MATRIX(matrix_a, "a", 16, 16, 8, precision::tf32, float, "tf32", 4, 4, unsigned, "r")
LAB_MATRIX(matrix_b, "b", 16, 16, 8, precision::tf32, float, "tf32", 4, 4, unsigned, "r")
LAB_SUMS(16, 16, 8, float, "f32", 8, 8, float, "f")
LAB_PRODUCTS(16, 16, 8, precision::tf32, float, float, "f32.tf32.tf32.f32", 4, 4, 8, 8, unsigned, "r", float, "f", float, "f")

LAB_MATRIX(matrix_a, "a", 8, 8, 4, double, double, "f64", 1, 1, double, "d")
LAB_MATRIX(matrix_b, "b", 8, 8, 4, double, double, "f64", 1, 1, double, "d")
LAB_SUMS(8, 8, 4, double, "f64", 2, 2, double, "d")
LAB_PRODUCTS(8, 8, 4, double, double, double, "f64.f64.f64.f64", 1, 1, 2, 2, double, "d", double, "d", double, "d")

}  // namespace wmma
}  // namespace nvcuda
