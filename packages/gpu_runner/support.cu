// Kernels the worker needs for its own work: make inputs, convert, compare. Compiled for the GPU at hand.
// Element types: 0 = f16, 1 = bf16, 2 = f32, 3 = e4m3.
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

__device__ u16 round_f16(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ u16 round_bf16(float value) {
  u32 bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

// To the nearest, ties to even, as the instruction does that older GPUs lack; too large numbers become 448.
__device__ u8 round_e4m3(float value) {
  u32 bits = __float_as_uint(value), sign = bits >> 24 & 0x80;
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7f;
  int exponent = max(static_cast<int>(bits >> 23 & 0xff) - 127, -6);  // of the last bit that stays: exponent - 3
  float steps = rintf(ldexpf(fminf(fabsf(value), 448.0f), 3 - exponent));
  return sign | min((exponent + 6) * 8 + static_cast<int>(steps), 0x7e);
}

__device__ float load(const void* data, u64 index, int type) {
  if (type == 2) return static_cast<const float*>(data)[index];
  if (type == 3) {
    int byte = static_cast<const u8*>(data)[index], exponent = byte >> 3 & 15, fraction = byte & 7;
    if ((byte & 0x7f) == 0x7f) return __uint_as_float(0x7fffffffu);
    float size = ldexpf(static_cast<float>(fraction + (exponent ? 8 : 0)), max(exponent, 1) - 10);
    return byte & 0x80 ? -size : size;
  }
  u16 bits = static_cast<const u16*>(data)[index];
  if (type == 1) return __uint_as_float(static_cast<u32>(bits) << 16);
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__device__ void store(void* data, u64 index, int type, float value) {
  if (type == 2) static_cast<float*>(data)[index] = value;
  else if (type == 3) static_cast<u8*>(data)[index] = round_e4m3(value);
  else static_cast<u16*>(data)[index] = type == 1 ? round_bf16(value) : round_f16(value);
}

// A 64-bit finaliser over a counter: every element has its own random bits, whatever the grid.
__device__ u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

#define FOR_EACH(i, count) \
  for (u64 i = blockIdx.x * static_cast<u64>(blockDim.x) + threadIdx.x; i < (count); \
       i += static_cast<u64>(gridDim.x) * blockDim.x)

// N(0, 1) by the Box-Muller transform of two uniform numbers in (0, 1).
extern "C" __global__ void __launch_bounds__(256) fill_normal(void* data, u64 count, int type, u64 seed) {
  FOR_EACH(i, count) {
    u64 bits = mix(mix(seed) ^ i);
    float u = (static_cast<float>(bits >> 40) + 0.5f) * 5.9604645e-8f;
    float v = (static_cast<float>((bits >> 8) & 0xffffff) + 0.5f) * 5.9604645e-8f;
    store(data, i, type, sqrtf(-2.0f * logf(u)) * cospif(2.0f * v));
  }
}

extern "C" __global__ void __launch_bounds__(256)
fill_integers(void* data, u64 count, int type, u64 seed, int limit) {
  FOR_EACH(i, count) {
    int value = static_cast<int>((mix(mix(seed) ^ i) >> 20) % (2 * limit + 1)) - limit;
    store(data, i, type, static_cast<float>(value));
  }
}

// Factors of 1/2 to 2: powers of two, or any.
extern "C" __global__ void __launch_bounds__(256) fill_scales(float* data, u64 count, u64 seed, int powers) {
  FOR_EACH(i, count) {
    float u = static_cast<float>(mix(mix(seed) ^ i) >> 40) * 1.1920929e-7f - 1.0f;
    data[i] = powers ? ldexpf(1.0f, static_cast<int>(rintf(u))) : exp2f(u);
  }
}

// Multiplies rows of `columns` values by the factors of their blocks of row_block rows and column_block columns.
extern "C" __global__ void __launch_bounds__(256)
scale(float* values, u64 count, u64 columns, const float* factors, int row_block, int column_block, u64 row_step,
      u64 column_step) {
  FOR_EACH(i, count) {
    u64 row = i / columns, column = i % columns;
    values[i] *= factors[row / row_block * row_step + column / column_block * column_step];
  }
}

extern "C" __global__ void __launch_bounds__(256) widen(float* out, const void* in, u64 count, int type) {
  FOR_EACH(i, count) out[i] = load(in, i, type);
}

extern "C" __global__ void __launch_bounds__(256) narrow(void* out, const float* in, u64 count, int type) {
  FOR_EACH(i, count) store(out, i, type, in[i]);
}

// report: [0] wrong [1] NaN or infinite [2] first wrong index [3] largest |difference| as float bits, then as
// doubles [4] sum of squared differences [5] sum of squared references. tiles[t]: wrong elements of tile t.
// `reference` holds alpha * A * B; `c` is added with beta if given.
extern "C" __global__ void __launch_bounds__(256)
compare(const void* out, int type, const float* reference, const void* c, float beta, u64 first_row, u64 rows,
        u64 columns, int exact, float absolute, float relative, int block_m, int block_n, u64* report, u32* tiles) {
  u64 tiles_n = (columns + block_n - 1) / block_n;
  double differences = 0, references = 0;
  FOR_EACH(i, rows * columns) {
    u64 index = first_row * columns + i;
    float want = reference[i];
    if (c != nullptr) want += beta * load(c, index, type);
    double plain = want;
    if (exact) {  // the kernel's last step is a rounding to the output type
      u16 rounded = type == 0 ? round_f16(want) : round_bf16(want);
      if (type != 2) want = load(&rounded, 0, type);
    }
    float got = load(out, index, type);
    bool finite = (__float_as_uint(got) & 0x7f800000u) != 0x7f800000u;
    float difference = fabsf(got - want);
    references += plain * plain;
    if (finite) {
      differences += static_cast<double>(difference) * difference;
      atomicMax(reinterpret_cast<u32*>(report + 3), __float_as_uint(difference));
    } else {
      atomicAdd(report + 1, 1ull);
    }
    bool good = finite && (exact ? got == want : difference <= absolute + relative * fabsf(want));
    if (!good) {
      atomicAdd(report, 1ull);
      atomicMin(report + 2, index);
      u64 row = index / columns, column = index % columns;
      atomicAdd(tiles + row / block_m * tiles_n + column / block_n, 1u);
    }
  }
  atomicAdd(reinterpret_cast<double*>(report + 4), differences);
  atomicAdd(reinterpret_cast<double*>(report + 5), references);
}
