// Atomic functions. Facts: CUDA C++ Programming Guide, “Atomic Functions”; PTX ISA, “atom”.
#pragma once

// An atomic of a type that the compiler knows, so that it finds out which memory it acts on. AS: the type of the builtin.
#define LAB_ATOMIC(NAME, TYPE, BUILTIN, AS)                                    \
  LAB_DEVICE TYPE NAME(TYPE* at, TYPE value) {                                 \
    return static_cast<TYPE>(BUILTIN(reinterpret_cast<AS*>(at), static_cast<AS>(value))); \
  }
// In PTX, and with the letter of its registers.
#define LAB_ATOMIC_PTX(NAME, TYPE, PTX, PART, LETTER)                          \
  LAB_DEVICE TYPE NAME(TYPE* at, TYPE value) {                                 \
    PART before;                                                               \
    asm volatile("atom." PTX " %0, [%1], %2;"                                  \
                 : "=" LETTER(before) : "l"(at), LETTER(*reinterpret_cast<PART*>(&value)) : "memory"); \
    return *reinterpret_cast<TYPE*>(&before);                                  \
  }

LAB_ATOMIC(atomicAdd, int, __nvvm_atom_add_gen_i, int)
LAB_ATOMIC(atomicAdd, unsigned, __nvvm_atom_add_gen_i, int)
LAB_ATOMIC(atomicAdd, unsigned long long, __nvvm_atom_add_gen_ll, long long)
LAB_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f, float)
LAB_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d, double)
LAB_DEVICE int atomicSub(int* at, int value) { return atomicAdd(at, -value); }
LAB_DEVICE unsigned atomicSub(unsigned* at, unsigned value) { return atomicAdd(at, 0u - value); }
LAB_ATOMIC(atomicExch, int, __nvvm_atom_xchg_gen_i, int)
LAB_ATOMIC(atomicExch, unsigned, __nvvm_atom_xchg_gen_i, int)
LAB_ATOMIC(atomicExch, unsigned long long, __nvvm_atom_xchg_gen_ll, long long)
LAB_DEVICE float atomicExch(float* at, float value) {
  return __uint_as_float(atomicExch(reinterpret_cast<unsigned*>(at), __float_as_uint(value)));
}
LAB_ATOMIC(atomicMin, int, __nvvm_atom_min_gen_i, int)
LAB_ATOMIC(atomicMin, unsigned, __nvvm_atom_min_gen_ui, unsigned)
LAB_ATOMIC(atomicMin, long long, __nvvm_atom_min_gen_ll, long long)
LAB_ATOMIC(atomicMin, unsigned long long, __nvvm_atom_min_gen_ull, unsigned long long)
LAB_ATOMIC(atomicMax, int, __nvvm_atom_max_gen_i, int)
LAB_ATOMIC(atomicMax, unsigned, __nvvm_atom_max_gen_ui, unsigned)
LAB_ATOMIC(atomicMax, long long, __nvvm_atom_max_gen_ll, long long)
LAB_ATOMIC(atomicMax, unsigned long long, __nvvm_atom_max_gen_ull, unsigned long long)
LAB_ATOMIC(atomicInc, unsigned, __nvvm_atom_inc_gen_ui, unsigned)
LAB_ATOMIC(atomicDec, unsigned, __nvvm_atom_dec_gen_ui, unsigned)
#define LAB_BITWISE(NAME, OPERATION)                                           \
  LAB_ATOMIC(NAME, int, __nvvm_atom_##OPERATION##_gen_i, int)                  \
  LAB_ATOMIC(NAME, unsigned, __nvvm_atom_##OPERATION##_gen_i, int)             \
  LAB_ATOMIC(NAME, unsigned long long, __nvvm_atom_##OPERATION##_gen_ll, long long)
LAB_BITWISE(atomicAnd, and)
LAB_BITWISE(atomicOr, or)
LAB_BITWISE(atomicXor, xor)

#define LAB_CAS(TYPE, BUILTIN, AS)                                             \
  LAB_DEVICE TYPE atomicCAS(TYPE* at, TYPE expected, TYPE value) {             \
    return static_cast<TYPE>(BUILTIN(reinterpret_cast<AS*>(at), static_cast<AS>(expected), static_cast<AS>(value))); \
  }
LAB_CAS(int, __nvvm_atom_cas_gen_i, int)
LAB_CAS(unsigned, __nvvm_atom_cas_gen_i, int)
LAB_CAS(unsigned long long, __nvvm_atom_cas_gen_ll, long long)
LAB_DEVICE unsigned short atomicCAS(unsigned short* at, unsigned short expected, unsigned short value) {
  unsigned short before;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(before) : "l"(at), "h"(expected), "h"(value) : "memory");
  return before;
}

#if __CUDA_ARCH__ >= 900
LAB_DEVICE float2 atomicAdd(float2* at, float2 value) {
  float2 before;
  asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};"
               : "=f"(before.x), "=f"(before.y) : "l"(at), "f"(value.x), "f"(value.y) : "memory");
  return before;
}
LAB_DEVICE float4 atomicAdd(float4* at, float4 value) {
  float4 before;
  asm volatile("atom.global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
               : "=f"(before.x), "=f"(before.y), "=f"(before.z), "=f"(before.w)
               : "l"(at), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w) : "memory");
  return before;
}
#endif

// Of a block's own or of the whole system: they have the same result, and these headers do not narrow the scope.
#define LAB_SCOPED(NAME, SCOPE)                                                \
  template <class Type, class Value>                                           \
  LAB_DEVICE Type NAME##SCOPE(Type* at, Value value) { return NAME(at, static_cast<Type>(value)); }
#define LAB_SCOPES(NAME)   \
  LAB_SCOPED(NAME, _block) \
  LAB_SCOPED(NAME, _system)
LAB_SCOPES(atomicAdd)
LAB_SCOPES(atomicSub)
LAB_SCOPES(atomicExch)
LAB_SCOPES(atomicMin)
LAB_SCOPES(atomicMax)
LAB_SCOPES(atomicInc)
LAB_SCOPES(atomicDec)
LAB_SCOPES(atomicAnd)
LAB_SCOPES(atomicOr)
LAB_SCOPES(atomicXor)
#define LAB_SCOPED_CAS(NAME)                                                   \
  template <class Type, class A, class B>                                      \
  LAB_DEVICE Type NAME(Type* at, A expected, B value) {                        \
    return atomicCAS(at, static_cast<Type>(expected), static_cast<Type>(value)); \
  }
LAB_SCOPED_CAS(atomicCAS_block)
LAB_SCOPED_CAS(atomicCAS_system)
