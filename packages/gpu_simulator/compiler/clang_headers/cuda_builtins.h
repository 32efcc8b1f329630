// What nvcc and NVRTC know without a header. Included before every source that clang compiles.
// Facts: CUDA C++ Programming Guide, “C++ Language Extensions”; CUDA Math API; PTX ISA.
#pragma once

#undef __clang__  // libcu++ then takes this compiler for NVRTC, which has no headers of a host to build on
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define CCCL_DISABLE_NVFP8_SUPPORT

// ---- Qualifiers ----

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__ __inline__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#define __block_size__(...)
#define __maxnreg__(count) __attribute__((maxnreg(count)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __device_builtin__
#define __restrict__ __restrict
#define __nv_pure__ __attribute__((pure))

// Functions of these headers have no lines of their own: what they do counts for the line that calls them.
#define LAB_BOTH __attribute__((host, device)) inline __attribute__((always_inline, nodebug))
#define LAB_DEVICE __attribute__((device)) inline __attribute__((always_inline, nodebug))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned long long uintptr_t;
typedef long long intptr_t;
typedef decltype(nullptr) nullptr_t;
typedef long clock_t;

namespace std {
using ::size_t;
using ::ptrdiff_t;
using ::nullptr_t;
// What {1, 2, 3} is where a function takes a list; the compiler fills in the two members.
template <class Type>
class initializer_list {
  const Type* lab_begin;
  size_t lab_size;

 public:
  typedef Type value_type;
  typedef size_t size_type;
  typedef const Type* iterator;
  typedef const Type* const_iterator;
  LAB_BOTH constexpr initializer_list() noexcept : lab_begin(nullptr), lab_size(0) {}
  LAB_BOTH constexpr size_t size() const noexcept { return lab_size; }
  LAB_BOTH constexpr const Type* begin() const noexcept { return lab_begin; }
  LAB_BOTH constexpr const Type* end() const noexcept { return lab_begin + lab_size; }
};
}  // namespace std

static constexpr int warpSize = 32;

#include "builtin/vector_types.h"
#include "builtin/integers.h"
#include "builtin/conversions.h"
#include "builtin/threads.h"
#include "builtin/warps.h"
#include "builtin/memory.h"
#include "builtin/textures.h"
#include "builtin/atomics.h"
#include "builtin/rounded_arithmetic.h"
#include "builtin/double_math.h"
#include "builtin/float_math.h"
#include "builtin/overloads_of_math.h"

// NVRTC has std::move and std::forward without a header.
namespace std {
template <class Type>
LAB_BOTH constexpr __remove_reference_t(Type)&& move(Type&& value) noexcept {
  return static_cast<__remove_reference_t(Type)&&>(value);
}
template <class Type>
LAB_BOTH constexpr Type&& forward(__remove_reference_t(Type)& value) noexcept {
  return static_cast<Type&&>(value);
}
}  // namespace std
