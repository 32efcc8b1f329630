// Texture and surface objects: what reads or writes them compiles, though no unit for them is simulated. Facts: CUDA C++
// Programming Guide, “Texture Functions”, “Surface Functions”; PTX ISA, “tex”, “tld4”, “suld”, “sust”.
#pragma once

typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t, CUtexObject, CUsurfObject;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };

// A type that a texture or surface may hold: COUNT parts, for which a texture fills the registers of a QUAD.
template <class Type>
struct lab_texel {};
#define LAB_TEXEL(TYPE, PART, COUNT, ...)                                      \
  template <>                                                                  \
  struct lab_texel<TYPE> {                                                     \
    typedef PART part;                                                         \
    static constexpr int count = COUNT;                                        \
    __VA_ARGS__                                                                \
  };
#define LAB_TEXELS(NAME, PART, QUAD)                                           \
  LAB_TEXEL(PART, PART, 1, typedef QUAD quad;)                                 \
  LAB_TEXEL(NAME##1, PART, 1, typedef QUAD quad;)                              \
  LAB_TEXEL(NAME##2, PART, 2, typedef QUAD quad;)                              \
  LAB_TEXEL(NAME##4, PART, 4, typedef QUAD quad;)
LAB_TEXEL(char, char, 1, typedef int4 quad;)
LAB_TEXELS(char, signed char, int4)
LAB_TEXELS(uchar, unsigned char, uint4)
LAB_TEXELS(short, short, int4)
LAB_TEXELS(ushort, unsigned short, uint4)
LAB_TEXELS(int, int, int4)
LAB_TEXELS(uint, unsigned, uint4)
LAB_TEXELS(float, float, float4)
LAB_TEXEL(long long, long long, 1, )  // those of 64 bits are for surfaces only
LAB_TEXEL(longlong1, long long, 1, )
LAB_TEXEL(longlong2, long long, 2, )
LAB_TEXEL(unsigned long long, unsigned long long, 1, )
LAB_TEXEL(ulonglong1, unsigned long long, 1, )
LAB_TEXEL(ulonglong2, unsigned long long, 2, )

#define LAB_X [x] "f"(x)
#define LAB_XY LAB_X, [y] "f"(y)
#define LAB_XYZ LAB_XY, [z] "f"(z)
#define LAB_LAYER [l] "r"(layer)
#define LAB_PARAMETERS(...) __VA_ARGS__

// ---- Textures ----

#define LAB_TEX(PTX, KIND, LETTER, FROM, AT, ...)                              \
  asm(PTX ".v4." KIND "." FROM " {%0, %1, %2, %3}, [%[t], " AT ";"             \
      : "=" LETTER(quad.x), "=" LETTER(quad.y), "=" LETTER(quad.z), "=" LETTER(quad.w) \
      : [t] "l"(texture), __VA_ARGS__)
#define LAB_TEX_OF_QUAD(...)                                                   \
  if constexpr (__is_same(Quad, float4))                                       \
    LAB_TEX_OF("f32", "f", __VA_ARGS__);                                       \
  else if constexpr (__is_same(Quad, int4))                                    \
    LAB_TEX_OF("s32", "r", __VA_ARGS__);                                       \
  else                                                                         \
    LAB_TEX_OF("u32", "r", __VA_ARGS__);
#define LAB_TEX_OF(KIND, LETTER, PTX, ...) LAB_TEX(PTX, KIND, LETTER, __VA_ARGS__)
template <class Type, class Quad>
LAB_DEVICE Type lab_from_quad(const Quad& quad) {
  typedef typename lab_texel<Type>::part Part;
  const Part parts[] = {Part(quad.x), Part(quad.y), Part(quad.z), Part(quad.w)};
  Type value;
  __builtin_memcpy(&value, parts, sizeof(Type));
  return value;
}
// AT: coordinates, after them level or gradients; the bracket that opens before them is closed in it.
#define LAB_TEXTURE(NAME, PTX, FROM, AT, PARAMETERS, ...)                      \
  template <class Type, class Quad = typename lab_texel<Type>::quad>           \
  LAB_DEVICE Type NAME(cudaTextureObject_t texture, LAB_PARAMETERS PARAMETERS) { \
    Quad quad;                                                                 \
    LAB_TEX_OF_QUAD(PTX, FROM, AT, __VA_ARGS__)                                \
    return lab_from_quad<Type>(quad);                                          \
  }                                                                            \
  template <class Type, class... At, class = decltype(NAME<Type>(0ull, At()...))> \
  LAB_DEVICE void NAME(Type* to, cudaTextureObject_t texture, At... at) {      \
    *to = NAME<Type>(texture, at...);                                          \
  }
// A way to read, with a level of detail and with gradients of the type SLOPE too.
#define LAB_TEXTURES(NAME, PTX, AT, PARAMETERS, OPERANDS, SLOPE, DX, DY, ...)  \
  LAB_TEXTURE(NAME, "tex." PTX, "f32", AT "]", PARAMETERS, LAB_PARAMETERS OPERANDS) \
  LAB_TEXTURE(NAME##Lod, "tex.level." PTX, "f32", AT "], %[d]", (LAB_PARAMETERS PARAMETERS, float level), \
              LAB_PARAMETERS OPERANDS, [d] "f"(level))                         \
  LAB_TEXTURE(NAME##Grad, "tex.grad." PTX, "f32", AT "], " DX ", " DY,         \
              (LAB_PARAMETERS PARAMETERS, SLOPE dx, SLOPE dy), LAB_PARAMETERS OPERANDS, __VA_ARGS__)
#define LAB_SLOPE_1 float, "{%[dx]}", "{%[dy]}", [dx] "f"(dx), [dy] "f"(dy)
#define LAB_SLOPE_2                                                            \
  float2, "{%[dxx], %[dxy]}", "{%[dyx], %[dyy]}", [dxx] "f"(dx.x), [dxy] "f"(dx.y), [dyx] "f"(dy.x), [dyy] "f"(dy.y)
#define LAB_SLOPE_3                                                            \
  float4, "{%[dxx], %[dxy], %[dxz], %[dxz]}", "{%[dyx], %[dyy], %[dyz], %[dyz]}", [dxx] "f"(dx.x), [dxy] "f"(dx.y), \
      [dxz] "f"(dx.z), [dyx] "f"(dy.x), [dyy] "f"(dy.y), [dyz] "f"(dy.z)
#define LAB_TEXTURES_OF(...) LAB_TEXTURES(__VA_ARGS__)

LAB_TEXTURE(tex1Dfetch, "tex.1d", "s32", "{%[x]}]", (int x), [x] "r"(x))
LAB_TEXTURES_OF(tex1D, "1d", "{%[x]}", (float x), (LAB_X), LAB_SLOPE_1)
LAB_TEXTURES_OF(tex2D, "2d", "{%[x], %[y]}", (float x, float y), (LAB_XY), LAB_SLOPE_2)
LAB_TEXTURES_OF(tex3D, "3d", "{%[x], %[y], %[z], %[z]}", (float x, float y, float z), (LAB_XYZ), LAB_SLOPE_3)
LAB_TEXTURES_OF(texCubemap, "cube", "{%[x], %[y], %[z], %[z]}", (float x, float y, float z), (LAB_XYZ), LAB_SLOPE_3)
LAB_TEXTURES_OF(tex1DLayered, "a1d", "{%[l], %[x]}", (float x, int layer), (LAB_LAYER, LAB_X), LAB_SLOPE_1)
LAB_TEXTURES_OF(tex2DLayered, "a2d", "{%[l], %[x], %[y], %[y]}", (float x, float y, int layer), (LAB_LAYER, LAB_XY),
                LAB_SLOPE_2)
LAB_TEXTURES_OF(texCubemapLayered, "acube", "{%[l], %[x], %[y], %[z]}", (float x, float y, float z, int layer),
                (LAB_LAYER, LAB_XYZ), LAB_SLOPE_3)

template <class Type, class Quad = typename lab_texel<Type>::quad>
LAB_DEVICE Type tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0) {
  Quad quad;
  if (component == 1) {
    LAB_TEX_OF_QUAD("tld4.g.2d", "f32", "{%[x], %[y]}]", LAB_XY)
  } else if (component == 2) {
    LAB_TEX_OF_QUAD("tld4.b.2d", "f32", "{%[x], %[y]}]", LAB_XY)
  } else if (component == 3) {
    LAB_TEX_OF_QUAD("tld4.a.2d", "f32", "{%[x], %[y]}]", LAB_XY)
  } else {
    LAB_TEX_OF_QUAD("tld4.r.2d", "f32", "{%[x], %[y]}]", LAB_XY)
  }
  return lab_from_quad<Type>(quad);
}

// ---- Surfaces ----

// By the bytes of a part: its bits, and the type of the register that carries it.
template <int bytes> struct lab_surfel;
template <> struct lab_surfel<1> { typedef unsigned char raw; typedef unsigned short reg; };
template <> struct lab_surfel<2> { typedef unsigned short raw, reg; };
template <> struct lab_surfel<4> { typedef unsigned raw, reg; };
template <> struct lab_surfel<8> { typedef unsigned long long raw, reg; };

// What is done by the bytes of a part and by the mode for coordinates outside; coordinates along x count bytes.
#define LAB_BY_WIDTH(DO, ...)                                                  \
  if constexpr (sizeof(Part) == 1) {                                           \
    DO("b8", "h", __VA_ARGS__)                                                 \
  } else if constexpr (sizeof(Part) == 2) {                                    \
    DO("b16", "h", __VA_ARGS__)                                                \
  } else if constexpr (sizeof(Part) == 4) {                                    \
    DO("b32", "r", __VA_ARGS__)                                                \
  } else {                                                                     \
    DO("b64", "l", __VA_ARGS__)                                                \
  }
#define LAB_BY_MODE(DO, ...)                                                   \
  if (mode == cudaBoundaryModeZero) {                                          \
    LAB_BY_WIDTH(DO, "zero", __VA_ARGS__)                                      \
  } else if (mode == cudaBoundaryModeClamp) {                                  \
    LAB_BY_WIDTH(DO, "clamp", __VA_ARGS__)                                     \
  } else {                                                                     \
    LAB_BY_WIDTH(DO, "trap", __VA_ARGS__)                                      \
  }
#define LAB_SULD(BITS, LETTER, MODE, PTX, AT, ...)                             \
  if constexpr (count == 1)                                                    \
    asm volatile("suld.b." PTX "." BITS "." MODE " {%0}, [%[s], " AT "];"      \
                 : "=" LETTER(regs[0]) : [s] "l"(surface), __VA_ARGS__ : "memory"); \
  else if constexpr (count == 2)                                               \
    asm volatile("suld.b." PTX ".v2." BITS "." MODE " {%0, %1}, [%[s], " AT "];" \
                 : "=" LETTER(regs[0]), "=" LETTER(regs[1]) : [s] "l"(surface), __VA_ARGS__ : "memory"); \
  else                                                                         \
    asm volatile("suld.b." PTX ".v4." BITS "." MODE " {%0, %1, %2, %3}, [%[s], " AT "];" \
                 : "=" LETTER(regs[0]), "=" LETTER(regs[1]), "=" LETTER(regs[2]), "=" LETTER(regs[3]) \
                 : [s] "l"(surface), __VA_ARGS__ : "memory");
#define LAB_SUST(BITS, LETTER, MODE, PTX, AT, ...)                             \
  if constexpr (count == 1)                                                    \
    asm volatile("sust.b." PTX "." BITS "." MODE " [%[s], " AT "], {%0};"      \
                 ::LETTER(regs[0]), [s] "l"(surface), __VA_ARGS__ : "memory"); \
  else if constexpr (count == 2)                                               \
    asm volatile("sust.b." PTX ".v2." BITS "." MODE " [%[s], " AT "], {%0, %1};" \
                 ::LETTER(regs[0]), LETTER(regs[1]), [s] "l"(surface), __VA_ARGS__ : "memory"); \
  else                                                                         \
    asm volatile("sust.b." PTX ".v4." BITS "." MODE " [%[s], " AT "], {%0, %1, %2, %3};" \
                 ::LETTER(regs[0]), LETTER(regs[1]), LETTER(regs[2]), LETTER(regs[3]), [s] "l"(surface), \
                 __VA_ARGS__ : "memory");
#define LAB_SURFACE(NAME, PTX, AT, PARAMETERS, ...)                            \
  template <class Type, class Part = typename lab_texel<Type>::part>           \
  LAB_DEVICE Type NAME##read(cudaSurfaceObject_t surface, LAB_PARAMETERS PARAMETERS, \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    constexpr int count = lab_texel<Type>::count;                              \
    typename lab_surfel<sizeof(Part)>::reg regs[4];                            \
    LAB_BY_MODE(LAB_SULD, PTX, AT, __VA_ARGS__)                                \
    return lab_from_registers<Type>(regs);                                     \
  }                                                                            \
  template <class Type, class... At, class = decltype(NAME##read<Type>(0ull, At()...))> \
  LAB_DEVICE void NAME##read(Type* to, cudaSurfaceObject_t surface, At... at) { \
    *to = NAME##read<Type>(surface, at...);                                    \
  }                                                                            \
  template <class Type, class Part = typename lab_texel<Type>::part>           \
  LAB_DEVICE void NAME##write(Type value, cudaSurfaceObject_t surface, LAB_PARAMETERS PARAMETERS, \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    constexpr int count = lab_texel<Type>::count;                              \
    typename lab_surfel<sizeof(Part)>::raw raw[count];                         \
    typename lab_surfel<sizeof(Part)>::reg regs[4] = {};                       \
    __builtin_memcpy(raw, &value, sizeof(Type));                               \
    for (int i = 0; i < count; i++) regs[i] = raw[i];                          \
    LAB_BY_MODE(LAB_SUST, PTX, AT, __VA_ARGS__)                                \
  }
template <class Type, class Register>
LAB_DEVICE Type lab_from_registers(const Register* regs) {
  typedef lab_texel<Type> Texel;
  typename lab_surfel<sizeof(typename Texel::part)>::raw raw[Texel::count];
  for (int i = 0; i < Texel::count; i++) raw[i] = regs[i];
  Type value;
  __builtin_memcpy(&value, raw, sizeof(Type));
  return value;
}

LAB_SURFACE(surf1D, "1d", "{%[x]}", (int x), [x] "r"(x))
LAB_SURFACE(surf2D, "2d", "{%[x], %[y]}", (int x, int y), [x] "r"(x), [y] "r"(y))
LAB_SURFACE(surf3D, "3d", "{%[x], %[y], %[z], %[z]}", (int x, int y, int z), [x] "r"(x), [y] "r"(y), [z] "r"(z))
LAB_SURFACE(surf1DLayered, "a1d", "{%[l], %[x]}", (int x, int layer), LAB_LAYER, [x] "r"(x))
#define LAB_LAYERS_OF_SURFACES(NAME)                                           \
  LAB_SURFACE(NAME, "a2d", "{%[l], %[x], %[y], %[y]}", (int x, int y, int layer), LAB_LAYER, [x] "r"(x), [y] "r"(y))
LAB_LAYERS_OF_SURFACES(surf2DLayered)
LAB_LAYERS_OF_SURFACES(surfCubemap)
LAB_LAYERS_OF_SURFACES(surfCubemapLayered)
