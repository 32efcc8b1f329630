"""Stand-ins for headers of the C and C++ libraries, which NVRTC does not have.

Headers of the CUDA toolkit include some of them (cuda.h includes stdlib.h), and nvcc reads a few before every source,
so that kernels use int64_t, INFINITY or M_PI without an #include. What a kernel can use of the C++ library, libcu++
has under the same names in cuda::std.
"""

from __future__ import annotations

_INTEGERS = "\n".join(
    f"typedef {sign}{word} {prefix}int{middle}{bits}_t;"
    for bits, word in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
    for prefix, sign in (("", "signed "), ("u", "unsigned "))
    for middle in ("", "_fast", "_least")
    if not (middle == "_fast" and bits in (8, 16, 32))  # of these, libraries differ
)
CONSTANTS = {
    "NULL": "0", "EXIT_SUCCESS": "0", "EXIT_FAILURE": "1", "RAND_MAX": "2147483647",
    "INFINITY": "__builtin_bit_cast(float, 0x7f800000)", "HUGE_VALF": "INFINITY", "HUGE_VAL": "((double)INFINITY)",
    "NAN": "__builtin_bit_cast(float, 0x7fc00000)",
    "M_E": "2.7182818284590452354", "M_LOG2E": "1.4426950408889634074", "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942", "M_LN10": "2.30258509299404568402", "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923", "M_PI_4": "0.78539816339744830962", "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308", "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880", "M_SQRT1_2": "0.70710678118654752440",
    "FLT_RADIX": "2", "FLT_MANT_DIG": "24", "FLT_DIG": "6", "FLT_MIN_EXP": "(-125)", "FLT_MAX_EXP": "128",
    "FLT_MAX": "3.402823466e+38F", "FLT_MIN": "1.175494351e-38F", "FLT_EPSILON": "1.192092896e-07F",
    "DBL_MANT_DIG": "53", "DBL_DIG": "15", "DBL_MIN_EXP": "(-1021)", "DBL_MAX_EXP": "1024",
    "DBL_MAX": "1.7976931348623158e+308", "DBL_MIN": "2.2250738585072014e-308", "DBL_EPSILON": "2.2204460492503131e-16",
    "CHAR_BIT": "8", "SCHAR_MIN": "(-128)", "SCHAR_MAX": "127", "UCHAR_MAX": "255", "CHAR_MIN": "(-128)",
    "CHAR_MAX": "127", "SHRT_MIN": "(-32768)", "SHRT_MAX": "32767", "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)", "INT_MAX": "2147483647", "UINT_MAX": "4294967295U",
    "LLONG_MIN": "(-9223372036854775807LL - 1)", "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL", "LONG_MIN": "(-LONG_MAX - 1)",
    "LONG_MAX": "((long)(sizeof(long) == 8 ? 9223372036854775807LL : 2147483647LL))", "ULONG_MAX": "(~0UL)",
    "INT8_MIN": "(-128)", "INT8_MAX": "127", "UINT8_MAX": "255", "INT16_MIN": "(-32768)", "INT16_MAX": "32767",
    "UINT16_MAX": "65535", "INT32_MIN": "INT_MIN", "INT32_MAX": "INT_MAX", "UINT32_MAX": "UINT_MAX",
    "INT64_MIN": "LLONG_MIN", "INT64_MAX": "LLONG_MAX", "UINT64_MAX": "ULLONG_MAX", "SIZE_MAX": "ULLONG_MAX",
}  # fmt: skip
_TYPES = """typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;
typedef unsigned long ulong; typedef long ssize_t, off_t;
typedef unsigned long long uintptr_t; typedef long long intptr_t;
#define __asm__ asm  /* words of GNU C that NVRTC has under one name only */
#define __volatile__ volatile
struct timeval { long tv_sec, tv_usec; };
#if __cplusplus >= 201703L
#define register  /* nvcc warns of it, and takes it */
#endif
struct gpu_simulator_file; typedef gpu_simulator_file FILE;
int gettimeofday(timeval*, void*); void exit(int);
"""
VALUES = "host_values.h"  # read before every .cu file
LIBRARY = "host_library.h"  # read before a .cu file that uses std::

_FUNCTIONS = (
    *("abs", "fabs", "sqrt", "cbrt", "exp", "exp2", "log", "log2", "log10", "pow", "sin", "cos", "tan", "asin", "acos"),
    *(
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "floor",
        "ceil",
        "round",
        "trunc",
        "fmod",
        "fmin",
        "fmax",
        "fma",
        "hypot",
    ),
    *("erf", "isnan", "isinf", "isfinite", "signbit"),
)
_BRIDGED = ("type_traits", "limits", "utility", "tuple", "array", "functional", "initializer_list", "cstdint")
_C = ("assert", "errno", "float", "inttypes", "limits", "math", "stddef", "stdint", "stdio", "stdlib", "string", "time")

HEADERS: dict[str, str] = {
    VALUES: "\n".join(
        ["#pragma once", _INTEGERS, _TYPES]
        + [f"#ifndef {name}\n#define {name} {value}\n#endif" for name, value in CONSTANTS.items()]
    ),
    LIBRARY: "\n".join(
        ["#pragma once", *(f"#include <cuda/std/{name}>" for name in _BRIDGED)]
        + ["#include <cuda/std/__algorithm/max.h>", "#include <cuda/std/__algorithm/min.h>"]
        + ["namespace std { using namespace cuda::std;", *(f"using ::{name};" for name in _FUNCTIONS), "}\n"]
    ),
    **{f"{name}.h": f"#include <{VALUES}>\n" for name in (*_C, "memory", "stdbool", "sys/time", "sys/types")},
    **{f"c{name}": f"#include <{LIBRARY}>\n#include <{VALUES}>\n" for name in _C},
    **{name: f"#include <{LIBRARY}>\n" for name in _BRIDGED},
}
HEADERS["cassert"] = HEADERS["cstddef"] = HEADERS["assert.h"]
