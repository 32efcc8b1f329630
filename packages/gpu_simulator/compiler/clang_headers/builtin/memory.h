// Loads and stores with a cache hint, blocks of memory, printf and assert. Facts: CUDA C++ Programming Guide, “Read-Only
// Data Cache Load Function”, “Load Functions Using Cache Hints”, “Dynamic Global Memory Allocation”; PTX ISA, “ld”, “st”.
#pragma once

// ---- Cache hints ----

#define LAB_LOAD_1(HINT, PTX, TYPE, KIND, LETTER, PART, FENCE)                 \
  LAB_DEVICE TYPE HINT(const TYPE* at) {                                       \
    PART value;                                                                \
    asm FENCE("ld.global" PTX "." KIND " %0, [%1];" : "=" LETTER(value) : "l"(at)); \
    return static_cast<TYPE>(value);                                           \
  }
#define LAB_LOAD_2(HINT, PTX, TYPE, KIND, LETTER, PART, FENCE)                 \
  LAB_DEVICE TYPE HINT(const TYPE* at) {                                       \
    PART x, y;                                                                 \
    asm FENCE("ld.global" PTX ".v2." KIND " {%0, %1}, [%2];" : "=" LETTER(x), "=" LETTER(y) : "l"(at)); \
    return TYPE(x, y);                                                         \
  }
#define LAB_LOAD_4(HINT, PTX, TYPE, KIND, LETTER, PART, FENCE)                 \
  LAB_DEVICE TYPE HINT(const TYPE* at) {                                       \
    PART x, y, z, w;                                                           \
    asm FENCE("ld.global" PTX ".v4." KIND " {%0, %1, %2, %3}, [%4];"           \
              : "=" LETTER(x), "=" LETTER(y), "=" LETTER(z), "=" LETTER(w) : "l"(at)); \
    return TYPE(x, y, z, w);                                                   \
  }
#define LAB_OF_TYPES(FORM_1, FORM_2, FORM_4, HINT, PTX, FENCE)                 \
  FORM_1(HINT, PTX, char, "s8", "r", int, FENCE)                               \
  FORM_1(HINT, PTX, signed char, "s8", "r", int, FENCE)                        \
  FORM_1(HINT, PTX, unsigned char, "u8", "r", unsigned, FENCE)                 \
  FORM_1(HINT, PTX, short, "s16", "h", short, FENCE)                           \
  FORM_1(HINT, PTX, unsigned short, "u16", "h", unsigned short, FENCE)         \
  FORM_1(HINT, PTX, int, "s32", "r", int, FENCE)                               \
  FORM_1(HINT, PTX, unsigned, "u32", "r", unsigned, FENCE)                     \
  FORM_1(HINT, PTX, long, "s64", "l", long, FENCE)                             \
  FORM_1(HINT, PTX, unsigned long, "u64", "l", unsigned long, FENCE)           \
  FORM_1(HINT, PTX, long long, "s64", "l", long long, FENCE)                   \
  FORM_1(HINT, PTX, unsigned long long, "u64", "l", unsigned long long, FENCE) \
  FORM_1(HINT, PTX, float, "f32", "f", float, FENCE)                           \
  FORM_1(HINT, PTX, double, "f64", "d", double, FENCE)                         \
  FORM_2(HINT, PTX, char2, "s8", "r", int, FENCE)                              \
  FORM_2(HINT, PTX, uchar2, "u8", "r", unsigned, FENCE)                        \
  FORM_2(HINT, PTX, short2, "s16", "h", short, FENCE)                          \
  FORM_2(HINT, PTX, ushort2, "u16", "h", unsigned short, FENCE)                \
  FORM_2(HINT, PTX, int2, "s32", "r", int, FENCE)                              \
  FORM_2(HINT, PTX, uint2, "u32", "r", unsigned, FENCE)                        \
  FORM_2(HINT, PTX, longlong2, "s64", "l", long long, FENCE)                   \
  FORM_2(HINT, PTX, ulonglong2, "u64", "l", unsigned long long, FENCE)         \
  FORM_2(HINT, PTX, float2, "f32", "f", float, FENCE)                          \
  FORM_2(HINT, PTX, double2, "f64", "d", double, FENCE)                        \
  FORM_4(HINT, PTX, char4, "s8", "r", int, FENCE)                              \
  FORM_4(HINT, PTX, uchar4, "u8", "r", unsigned, FENCE)                        \
  FORM_4(HINT, PTX, short4, "s16", "h", short, FENCE)                          \
  FORM_4(HINT, PTX, ushort4, "u16", "h", unsigned short, FENCE)                \
  FORM_4(HINT, PTX, int4, "s32", "r", int, FENCE)                              \
  FORM_4(HINT, PTX, uint4, "u32", "r", unsigned, FENCE)                        \
  FORM_4(HINT, PTX, float4, "f32", "f", float, FENCE)
#define LAB_LOADS(HINT, PTX, FENCE) LAB_OF_TYPES(LAB_LOAD_1, LAB_LOAD_2, LAB_LOAD_4, HINT, PTX, FENCE)
LAB_LOADS(__ldg, ".nc", )
LAB_LOADS(__ldca, ".ca", volatile)
LAB_LOADS(__ldcg, ".cg", volatile)
LAB_LOADS(__ldcs, ".cs", volatile)
LAB_LOADS(__ldlu, ".lu", volatile)
LAB_LOADS(__ldcv, ".cv", volatile)

#define LAB_STORE_1(HINT, PTX, TYPE, KIND, LETTER, PART, FENCE)                \
  LAB_DEVICE void HINT(TYPE* at, TYPE value) {                                 \
    asm volatile("st.global" PTX "." KIND " [%0], %1;" ::"l"(at), LETTER(static_cast<PART>(value)) : "memory"); \
  }
#define LAB_STORE_2(HINT, PTX, TYPE, KIND, LETTER, PART, FENCE)                \
  LAB_DEVICE void HINT(TYPE* at, TYPE value) {                                 \
    asm volatile("st.global" PTX ".v2." KIND " [%0], {%1, %2};"                \
                 ::"l"(at), LETTER(static_cast<PART>(value.x)), LETTER(static_cast<PART>(value.y)) : "memory"); \
  }
#define LAB_STORE_4(HINT, PTX, TYPE, KIND, LETTER, PART, FENCE)                \
  LAB_DEVICE void HINT(TYPE* at, TYPE value) {                                 \
    asm volatile("st.global" PTX ".v4." KIND " [%0], {%1, %2, %3, %4};"        \
                 ::"l"(at), LETTER(static_cast<PART>(value.x)), LETTER(static_cast<PART>(value.y)), \
                 LETTER(static_cast<PART>(value.z)), LETTER(static_cast<PART>(value.w)) : "memory"); \
  }
#define LAB_STORES(HINT, PTX) LAB_OF_TYPES(LAB_STORE_1, LAB_STORE_2, LAB_STORE_4, HINT, PTX, )
LAB_STORES(__stwb, ".wb")
LAB_STORES(__stcg, ".cg")
LAB_STORES(__stcs, ".cs")
LAB_STORES(__stwt, ".wt")

// ---- Blocks of memory ----

LAB_DEVICE void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
LAB_DEVICE void* memmove(void* to, const void* from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
LAB_DEVICE void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
LAB_DEVICE int memcmp(const void* left, const void* right, size_t bytes) {
  const unsigned char *a = static_cast<const unsigned char*>(left), *b = static_cast<const unsigned char*>(right);
  for (; bytes; bytes--, a++, b++)
    if (*a != *b) return *a - *b;
  return 0;
}
extern "C" __attribute__((device)) void* malloc(size_t bytes);
extern "C" __attribute__((device)) void free(void* block);
LAB_DEVICE void* operator new(size_t, void* at) noexcept { return at; }
LAB_DEVICE void* operator new[](size_t, void* at) noexcept { return at; }
LAB_DEVICE void* operator new(size_t bytes) { return malloc(bytes); }
LAB_DEVICE void* operator new[](size_t bytes) { return malloc(bytes); }
LAB_DEVICE void operator delete(void* block) noexcept { free(block); }
LAB_DEVICE void operator delete[](void* block) noexcept { free(block); }
LAB_DEVICE void operator delete(void* block, size_t) noexcept { free(block); }
LAB_DEVICE void operator delete[](void* block, size_t) noexcept { free(block); }

// ---- What a kernel says ----

extern "C" __attribute__((device)) int printf(const char* format, ...);
extern "C" __attribute__((device)) void __assertfail(const char* message, const char* file, unsigned line,
                                                     const char* function, size_t bytes_of_a_character);
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition) \
  ((condition) ? static_cast<void>(0) : __assertfail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))
#endif
