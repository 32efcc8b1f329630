// nvcuda::wmma for m16n16k16 with FP16 or BF16 operands and FP32 sums. Facts: PTX ISA, “wmma.load”, “wmma.mma”,
// “wmma.store”. A fragment is an opaque list of registers, as in NVIDIA's header.
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

template <class Use, int M, int N, int K, class Type, class Layout = void>
struct fragment;
template <class Use, class Layout>
struct fragment<Use, 16, 16, 16, half, Layout> {
  static constexpr int num_elements = 16;
  unsigned lab_registers[8];
};
template <class Use, class Layout>
struct fragment<Use, 16, 16, 16, __nv_bfloat16, Layout> {
  static constexpr int num_elements = 8;
  unsigned lab_registers[4];
};
template <>
struct fragment<accumulator, 16, 16, 16, float, void> {
  static constexpr int num_elements = 8;
  float x[8];
};
typedef fragment<accumulator, 16, 16, 16, float> lab_sums;

template <class Fragment>
LAB_DEVICE void fill_fragment(Fragment& sums, float value) {
#pragma unroll
  for (int i = 0; i < 8; i++) sums.x[i] = value;
}

// ---- Lists of operands ----

#define LAB_OUT4(r) "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
#define LAB_OUT8(r) LAB_OUT4(r), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
#define LAB_IN4(r) "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
#define LAB_IN8(r) LAB_IN4(r), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7])
#define LAB_SUMS_OUT(x) \
  "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]), "=f"(x[5]), "=f"(x[6]), "=f"(x[7])
#define LAB_SUMS_IN(x) "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7])

// ---- Load ----

#define LAB_LOAD(MATRIX, USE, LAYOUT, ORDER)                                   \
  LAB_DEVICE void load_matrix_sync(fragment<USE, 16, 16, 16, half, LAYOUT>& to, const half* from, unsigned pitch) { \
    asm volatile("wmma.load." MATRIX ".sync.aligned." ORDER ".m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" \
                 : LAB_OUT8(to.lab_registers) : "l"(from), "r"(pitch) : "memory"); \
  }                                                                            \
  LAB_DEVICE void load_matrix_sync(fragment<USE, 16, 16, 16, __nv_bfloat16, LAYOUT>& to, const __nv_bfloat16* from, \
                                   unsigned pitch) {                           \
    asm volatile("wmma.load." MATRIX ".sync.aligned." ORDER ".m16n16k16.bf16 {%0, %1, %2, %3}, [%4], %5;" \
                 : LAB_OUT4(to.lab_registers) : "l"(from), "r"(pitch) : "memory"); \
  }
LAB_LOAD("a", matrix_a, row_major, "row")
LAB_LOAD("a", matrix_a, col_major, "col")
LAB_LOAD("b", matrix_b, row_major, "row")
LAB_LOAD("b", matrix_b, col_major, "col")

// ---- Multiply ----

#define LAB_MULTIPLY(LAYOUT_A, ORDER_A, LAYOUT_B, ORDER_B)                     \
  LAB_DEVICE void mma_sync(lab_sums& d, const fragment<matrix_a, 16, 16, 16, half, LAYOUT_A>& a, \
                           const fragment<matrix_b, 16, 16, 16, half, LAYOUT_B>& b, const lab_sums& c) { \
    asm volatile("wmma.mma.sync.aligned." ORDER_A "." ORDER_B ".m16n16k16.f32.f32 " \
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, " \
                 "{%16, %17, %18, %19, %20, %21, %22, %23}, {%24, %25, %26, %27, %28, %29, %30, %31};" \
                 : LAB_SUMS_OUT(d.x)                                           \
                 : LAB_IN8(a.lab_registers), LAB_IN8(b.lab_registers), LAB_SUMS_IN(c.x)); \
  }                                                                            \
  LAB_DEVICE void mma_sync(lab_sums& d, const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, LAYOUT_A>& a, \
                           const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, LAYOUT_B>& b, const lab_sums& c) { \
    asm volatile("wmma.mma.sync.aligned." ORDER_A "." ORDER_B ".m16n16k16.f32.bf16.bf16.f32 " \
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, " \
                 "{%16, %17, %18, %19, %20, %21, %22, %23};"                   \
                 : LAB_SUMS_OUT(d.x)                                           \
                 : LAB_IN4(a.lab_registers), LAB_IN4(b.lab_registers), LAB_SUMS_IN(c.x)); \
  }
LAB_MULTIPLY(row_major, "row", row_major, "row")
LAB_MULTIPLY(row_major, "row", col_major, "col")
LAB_MULTIPLY(col_major, "col", row_major, "row")
LAB_MULTIPLY(col_major, "col", col_major, "col")

// ---- Store ----

LAB_DEVICE void store_matrix_sync(float* to, const lab_sums& sums, unsigned pitch, layout_t layout) {
  if (layout == mem_row_major)
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;"
                 ::"l"(to), "r"(pitch), LAB_SUMS_IN(sums.x) : "memory");
  else
    asm volatile("wmma.store.d.sync.aligned.col.m16n16k16.f32 [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;"
                 ::"l"(to), "r"(pitch), LAB_SUMS_IN(sums.x) : "memory");
}

}  // namespace wmma
}  // namespace nvcuda
