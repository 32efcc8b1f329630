// What nvcc and NVRTC know without a header: qualifiers, vector types, built-in variables and intrinsics.
// Included before every source that clang compiles. Facts: CUDA C++ Programming Guide, “C++ Language Extensions”; PTX ISA.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1  // as for NVRTC: there is no host code and no system header

// ---- Qualifiers ----

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#define __maxnreg__(count) __attribute__((maxnreg(count)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __restrict__ __restrict

#define LAB_BOTH __attribute__((host, device)) inline __attribute__((always_inline))
#define LAB_DEVICE __attribute__((device)) inline __attribute__((always_inline))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__ intptr_t;

#define warpSize 32

// ---- Vector types ----

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

#define LAB_VECTOR_2(NAME, TYPE, BYTES)                                        \
  struct __attribute__((aligned(BYTES))) NAME {                                \
    TYPE x, y;                                                                 \
    LAB_ONE_COPY(NAME, TYPE, 2)                                                \
    LAB_BOTH constexpr NAME(TYPE x, TYPE y) : x(x), y(y) {}                    \
  };                                                                           \
  LAB_BOTH NAME make_##NAME(TYPE x, TYPE y) { return NAME(x, y); }

#define LAB_VECTOR_4(NAME, TYPE, BYTES)                                        \
  struct __attribute__((aligned(BYTES))) NAME {                                \
    TYPE x, y, z, w;                                                           \
    LAB_ONE_COPY(NAME, TYPE, 4)                                                \
    LAB_BOTH constexpr NAME(TYPE x, TYPE y, TYPE z, TYPE w) : x(x), y(y), z(z), w(w) {} \
  };                                                                           \
  LAB_BOTH NAME make_##NAME(TYPE x, TYPE y, TYPE z, TYPE w) { return NAME(x, y, z, w); }

#define LAB_VECTOR_3(NAME, TYPE)                                               \
  struct NAME {                                                                \
    TYPE x, y, z;                                                              \
  };                                                                           \
  LAB_BOTH NAME make_##NAME(TYPE x, TYPE y, TYPE z) { return {x, y, z}; }

LAB_VECTOR_2(char2, signed char, 2)
LAB_VECTOR_2(uchar2, unsigned char, 2)
LAB_VECTOR_4(char4, signed char, 4)
LAB_VECTOR_4(uchar4, unsigned char, 4)
LAB_VECTOR_2(short2, short, 4)
LAB_VECTOR_2(ushort2, unsigned short, 4)
LAB_VECTOR_4(short4, short, 8)
LAB_VECTOR_4(ushort4, unsigned short, 8)
LAB_VECTOR_2(int2, int, 8)
LAB_VECTOR_2(uint2, unsigned, 8)
LAB_VECTOR_4(int4, int, 16)
LAB_VECTOR_4(uint4, unsigned, 16)
LAB_VECTOR_2(float2, float, 8)
LAB_VECTOR_4(float4, float, 16)
LAB_VECTOR_2(double2, double, 16)
LAB_VECTOR_2(longlong2, long long, 16)
LAB_VECTOR_2(ulonglong2, unsigned long long, 16)
LAB_VECTOR_3(int3, int)
LAB_VECTOR_3(uint3, unsigned)
LAB_VECTOR_3(float3, float)

struct dim3 {
  unsigned x, y, z;
  LAB_BOTH constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// ---- Arithmetic that CUDA has as functions ----

#define LAB_LEAST_AND_MOST(TYPE)                                               \
  LAB_BOTH constexpr TYPE min(TYPE a, TYPE b) { return a < b ? a : b; }        \
  LAB_BOTH constexpr TYPE max(TYPE a, TYPE b) { return a > b ? a : b; }
LAB_LEAST_AND_MOST(int)
LAB_LEAST_AND_MOST(unsigned)
LAB_LEAST_AND_MOST(long)
LAB_LEAST_AND_MOST(unsigned long)
LAB_LEAST_AND_MOST(long long)
LAB_LEAST_AND_MOST(unsigned long long)
LAB_BOTH constexpr unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
LAB_BOTH constexpr unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
LAB_BOTH constexpr unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
LAB_BOTH constexpr unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
LAB_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
LAB_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
LAB_BOTH float fminf(float a, float b) { return __builtin_fminf(a, b); }
LAB_BOTH float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
LAB_BOTH float fabsf(float a) { return __builtin_fabsf(a); }
LAB_BOTH float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LAB_BOTH float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LAB_BOTH int abs(int a) { return a < 0 ? -a : a; }

LAB_BOTH unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
LAB_BOTH int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
LAB_BOTH float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
LAB_BOTH float __int_as_float(int x) { return __builtin_bit_cast(float, x); }

LAB_BOTH int __ffs(int x) { return __builtin_ffs(x); }
LAB_BOTH int __popc(unsigned x) { return __builtin_popcount(x); }
LAB_BOTH int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
LAB_DEVICE float __fmul_rn(float a, float b) {
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
}
LAB_DEVICE float __fadd_rn(float a, float b) {
  float sum;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
  return sum;
}

// ---- Built-in variables ----

// Reading threadIdx.x calls a function that reads the special register; the variable itself is never stored anywhere.
#define LAB_SPECIAL(NAME, REGISTER)                                            \
  struct NAME {                                                                \
    __declspec(property(get = lab_x)) unsigned x;                              \
    __declspec(property(get = lab_y)) unsigned y;                              \
    __declspec(property(get = lab_z)) unsigned z;                              \
    LAB_DEVICE static unsigned lab_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); } \
    LAB_DEVICE static unsigned lab_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); } \
    LAB_DEVICE static unsigned lab_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); } \
    LAB_DEVICE operator dim3() const { return dim3(lab_x(), lab_y(), lab_z()); } \
  };
LAB_SPECIAL(lab_thread, tid)
LAB_SPECIAL(lab_block, ctaid)
LAB_SPECIAL(lab_block_size, ntid)
LAB_SPECIAL(lab_grid_size, nctaid)
extern const __attribute__((device, weak)) lab_thread threadIdx;
extern const __attribute__((device, weak)) lab_block blockIdx;
extern const __attribute__((device, weak)) lab_block_size blockDim;
extern const __attribute__((device, weak)) lab_grid_size gridDim;

// ---- Synchronisation, time, address spaces ----

LAB_DEVICE void lab_barrier() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() lab_barrier()
LAB_DEVICE void __syncwarp(unsigned lanes = 0xffffffffu) { asm volatile("bar.warp.sync %0;" ::"r"(lanes) : "memory"); }
LAB_DEVICE void __threadfence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
LAB_DEVICE void __threadfence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
LAB_DEVICE void __threadfence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
LAB_DEVICE void __nanosleep(unsigned time) { asm volatile("nanosleep.u32 %0;" ::"r"(time)); }
LAB_DEVICE void __trap() { asm volatile("trap;"); }

LAB_DEVICE unsigned __activemask() {
  unsigned lanes;
  asm volatile("activemask.b32 %0;" : "=r"(lanes));
  return lanes;
}
LAB_DEVICE long long clock64() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
LAB_DEVICE int clock() {
  int cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
  return cycles;
}

LAB_DEVICE size_t __cvta_generic_to_shared(const void* pointer) {
  return reinterpret_cast<size_t>((__attribute__((address_space(3))) const char*)pointer);
}
LAB_DEVICE size_t __cvta_generic_to_global(const void* pointer) {
  return reinterpret_cast<size_t>((__attribute__((address_space(1))) const char*)pointer);
}

// ---- Warps ----

// The fourth operand of shfl has the clamp in its low bits and the mask of the segment from bit 8 on: PTX ISA, shfl.sync.
#define LAB_SHUFFLE(NAME, MODE, CLAMP)                                         \
  LAB_DEVICE unsigned NAME(unsigned lanes, unsigned value, int which, int width = 32) { \
    unsigned result, clamp = (32 - width) << 8 | CLAMP;                        \
    asm volatile("shfl.sync." MODE ".b32 %0, %1, %2, %3, %4;"                  \
                 : "=r"(result) : "r"(value), "r"(which), "r"(clamp), "r"(lanes)); \
    return result;                                                             \
  }                                                                            \
  LAB_DEVICE int NAME(unsigned lanes, int value, int which, int width = 32) {  \
    return static_cast<int>(NAME(lanes, static_cast<unsigned>(value), which, width)); \
  }                                                                            \
  LAB_DEVICE float NAME(unsigned lanes, float value, int which, int width = 32) { \
    return __uint_as_float(NAME(lanes, __float_as_uint(value), which, width)); \
  }
LAB_SHUFFLE(__shfl_sync, "idx", 31)
LAB_SHUFFLE(__shfl_xor_sync, "bfly", 31)
LAB_SHUFFLE(__shfl_down_sync, "down", 31)
LAB_SHUFFLE(__shfl_up_sync, "up", 0)

LAB_DEVICE unsigned __ballot_sync(unsigned lanes, int predicate) {
  unsigned votes;
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %1, 0;\n vote.sync.ballot.b32 %0, p, %2;\n}"
               : "=r"(votes) : "r"(predicate), "r"(lanes));
  return votes;
}
LAB_DEVICE int __any_sync(unsigned lanes, int predicate) { return __ballot_sync(lanes, predicate) != 0; }
LAB_DEVICE int __all_sync(unsigned lanes, int predicate) { return __ballot_sync(lanes, !predicate) == 0; }

// ---- Atomics ----

LAB_DEVICE int lab_atomic_add(int* at, int value) { return __nvvm_atom_add_gen_i(at, value); }
LAB_DEVICE unsigned lab_atomic_add(unsigned* at, unsigned value) {
  return static_cast<unsigned>(__nvvm_atom_add_gen_i(reinterpret_cast<int*>(at), static_cast<int>(value)));
}
LAB_DEVICE unsigned long long lab_atomic_add(unsigned long long* at, unsigned long long value) {
  return static_cast<unsigned long long>(
      __nvvm_atom_add_gen_ll(reinterpret_cast<long long*>(at), static_cast<long long>(value)));
}
LAB_DEVICE float lab_atomic_add(float* at, float value) { return __nvvm_atom_add_gen_f(at, value); }
#define atomicAdd lab_atomic_add

#define LAB_ATOMIC(NAME, OPERATION, TYPE, PTX, LETTER)                          \
  LAB_DEVICE TYPE NAME(TYPE* at, TYPE value) {                                 \
    TYPE before;                                                               \
    asm volatile("atom." OPERATION "." PTX " %0, [%1], %2;" : "=" LETTER(before) : "l"(at), LETTER(value) : "memory"); \
    return before;                                                             \
  }
LAB_ATOMIC(atomicMax, "max", int, "s32", "r")
LAB_ATOMIC(atomicMax, "max", unsigned, "u32", "r")
LAB_ATOMIC(atomicMin, "min", int, "s32", "r")
LAB_ATOMIC(atomicMin, "min", unsigned, "u32", "r")
LAB_ATOMIC(atomicExch, "exch", int, "b32", "r")
LAB_ATOMIC(atomicExch, "exch", unsigned, "b32", "r")
LAB_ATOMIC(atomicExch, "exch", float, "b32", "f")
LAB_ATOMIC(atomicOr, "or", unsigned, "b32", "r")
LAB_ATOMIC(atomicAnd, "and", unsigned, "b32", "r")
LAB_DEVICE int atomicCAS(int* at, int expected, int value) {
  int before;
  asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(before) : "l"(at), "r"(expected), "r"(value) : "memory");
  return before;
}

// ---- The little of the standard library that device code uses ----

extern "C" __attribute__((device)) int printf(const char*, ...);
namespace std {
template <class T>
struct remove_reference {
  typedef T type;
};
template <class T>
struct remove_reference<T&> {
  typedef T type;
};
template <class T>
struct remove_reference<T&&> {
  typedef T type;
};
template <class T>
LAB_BOTH constexpr typename remove_reference<T>::type&& move(T&& value) noexcept {
  return static_cast<typename remove_reference<T>::type&&>(value);
}
}  // namespace std

// NVRTC is told to take a function without a qualifier as a device function; here it becomes one of both sides.
#pragma clang force_cuda_host_device begin
