// Conversions whose name says how they round. Facts: CUDA Math API, “Type Casting Intrinsics”; PTX ISA, “cvt”.
#pragma once

#define LAB_CONVERT(NAME, FROM, TO, PTX, IN, OUT)                              \
  LAB_DEVICE TO NAME(FROM x) {                                                 \
    TO result;                                                                 \
    asm("cvt." PTX " %0, %1;" : "=" OUT(result) : IN(x));                      \
    return result;                                                             \
  }
#define LAB_TO_REAL(NAME, FROM, TO, PTX, IN, OUT)           \
  LAB_CONVERT(NAME##_rn, FROM, TO, "rn." PTX, IN, OUT)      \
  LAB_CONVERT(NAME##_rz, FROM, TO, "rz." PTX, IN, OUT)      \
  LAB_CONVERT(NAME##_ru, FROM, TO, "rp." PTX, IN, OUT)      \
  LAB_CONVERT(NAME##_rd, FROM, TO, "rm." PTX, IN, OUT)
#define LAB_TO_WHOLE(NAME, FROM, TO, PTX, IN, OUT)          \
  LAB_CONVERT(NAME##_rn, FROM, TO, "rni." PTX, IN, OUT)     \
  LAB_CONVERT(NAME##_rz, FROM, TO, "rzi." PTX, IN, OUT)     \
  LAB_CONVERT(NAME##_ru, FROM, TO, "rpi." PTX, IN, OUT)     \
  LAB_CONVERT(NAME##_rd, FROM, TO, "rmi." PTX, IN, OUT)

LAB_TO_REAL(__int2float, int, float, "f32.s32", "r", "f")
LAB_TO_REAL(__uint2float, unsigned, float, "f32.u32", "r", "f")
LAB_TO_REAL(__ll2float, long long, float, "f32.s64", "l", "f")
LAB_TO_REAL(__ull2float, unsigned long long, float, "f32.u64", "l", "f")
LAB_TO_REAL(__ll2double, long long, double, "f64.s64", "l", "d")
LAB_TO_REAL(__ull2double, unsigned long long, double, "f64.u64", "l", "d")
LAB_TO_REAL(__double2float, double, float, "f32.f64", "d", "f")
LAB_CONVERT(__int2double_rn, int, double, "rn.f64.s32", "r", "d")
LAB_CONVERT(__uint2double_rn, unsigned, double, "rn.f64.u32", "r", "d")
LAB_TO_WHOLE(__float2int, float, int, "s32.f32", "f", "r")
LAB_TO_WHOLE(__float2uint, float, unsigned, "u32.f32", "f", "r")
LAB_TO_WHOLE(__float2ll, float, long long, "s64.f32", "f", "l")
LAB_TO_WHOLE(__float2ull, float, unsigned long long, "u64.f32", "f", "l")
LAB_TO_WHOLE(__double2int, double, int, "s32.f64", "d", "r")
LAB_TO_WHOLE(__double2uint, double, unsigned, "u32.f64", "d", "r")
LAB_TO_WHOLE(__double2ll, double, long long, "s64.f64", "d", "l")
LAB_TO_WHOLE(__double2ull, double, unsigned long long, "u64.f64", "d", "l")
