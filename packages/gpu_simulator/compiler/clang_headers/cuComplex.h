// Complex numbers. Facts: cuComplex.h of the CUDA Toolkit, its names; ISO C, annex G.
#pragma once

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// SUFFIX: f for float, nothing for double.
#define LAB_COMPLEX(TYPE, PART, MAKE, SUFFIX, HYPOT)                           \
  LAB_BOTH TYPE MAKE(PART re, PART im) { return TYPE(re, im); }                \
  LAB_BOTH PART cuCreal##SUFFIX(TYPE a) { return a.x; }                        \
  LAB_BOTH PART cuCimag##SUFFIX(TYPE a) { return a.y; }                        \
  LAB_BOTH TYPE cuConj##SUFFIX(TYPE a) { return TYPE(a.x, -a.y); }             \
  LAB_BOTH TYPE cuCadd##SUFFIX(TYPE a, TYPE b) { return TYPE(a.x + b.x, a.y + b.y); } \
  LAB_BOTH TYPE cuCsub##SUFFIX(TYPE a, TYPE b) { return TYPE(a.x - b.x, a.y - b.y); } \
  LAB_BOTH TYPE cuCmul##SUFFIX(TYPE a, TYPE b) { return TYPE(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
  LAB_BOTH TYPE cuCfma##SUFFIX(TYPE a, TYPE b, TYPE c) { return cuCadd##SUFFIX(cuCmul##SUFFIX(a, b), c); } \
  LAB_DEVICE PART cuCabs##SUFFIX(TYPE a) { return HYPOT(a.x, a.y); }           \
  LAB_DEVICE TYPE cuCdiv##SUFFIX(TYPE a, TYPE b) {                             \
    const PART size = fabs(b.x) + fabs(b.y), x = b.x / size, y = b.y / size, square = x * x + y * y; \
    const TYPE scaled(a.x / size, a.y / size);                                 \
    return TYPE((scaled.x * x + scaled.y * y) / square, (scaled.y * x - scaled.x * y) / square); \
  }
LAB_COMPLEX(cuFloatComplex, float, make_cuFloatComplex, f, hypotf)
LAB_COMPLEX(cuDoubleComplex, double, make_cuDoubleComplex, , hypot)
LAB_BOTH cuComplex make_cuComplex(float re, float im) { return cuComplex(re, im); }
