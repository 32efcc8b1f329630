"""714 operations on numbers that an H200 computed (driver 580, nvcc 13.0, sm_90); one_operation.npz has its results.

A line has the types of the result and of the operands, and the operations between them: functions, or, with a dot in
the name, instructions of PTX. `HALVES` are recorded for bfloat16 too.
"""

from typing import NamedTuple

HALVES = """
half(double): __double2half
half(float): __float2half __float2half_rn __float2half_rz __float2half_rd __float2half_ru
float(half): __half2float
half2(float): __float2half2_rn
half2(float, float): __floats2half2_rn
float(half2): __low2float __high2float
s8(half): __half2char_rz
u8(half): __half2uchar_rz
s16(half): __half2short_rz __half2short_rn __half2short_rd __half2short_ru __half_as_short
u16(half): __half2ushort_rz __half2ushort_rn __half2ushort_rd __half2ushort_ru __half_as_ushort
s32(half): __half2int_rz __half2int_rn __half2int_rd __half2int_ru __hisinf
u32(half): __half2uint_rz __half2uint_rn __half2uint_rd __half2uint_ru
s64(half): __half2ll_rz __half2ll_rn __half2ll_rd __half2ll_ru
u64(half): __half2ull_rz __half2ull_rn __half2ull_rd __half2ull_ru
half2(half, half): make_half2 __halves2half2
half2(float2): __float22half2_rn
float2(half2): __half22float2
half(s32): __int2half_rn __int2half_rz __int2half_rd __int2half_ru
half(s16): __short2half_rn __short2half_rz __short2half_rd __short2half_ru __short_as_half
half(u32): __uint2half_rn __uint2half_rz __uint2half_rd __uint2half_ru
half(u16): __ushort2half_rn __ushort2half_rz __ushort2half_rd __ushort2half_ru __ushort_as_half
half(u64): __ull2half_rn __ull2half_rz __ull2half_rd __ull2half_ru
half(s64): __ll2half_rn __ll2half_rz __ll2half_rd __ll2half_ru
half(half): htrunc hceil hfloor hrint __habs __hneg hsqrt hrsqrt hrcp hlog hlog2 hlog10 hexp htanh hexp2 hexp10 hcos
    hsin
half2(half2): h2trunc h2ceil h2floor h2rint __lowhigh2highlow __low2half2 __high2half2 __hisnan2 __habs2 __hneg2 h2tanh
    h2sqrt h2rsqrt h2rcp h2log h2log2 h2log10 h2exp h2exp2 h2exp10 h2cos h2sin
half2(half): __half2half2
half2(half2, half2): __lows2half2 __highs2half2 __hmax2 __hmin2 __heq2 __hne2 __hle2 __hge2 __hlt2 __hgt2 __hequ2
    __hneu2 __hleu2 __hgeu2 __hltu2 __hgtu2 __hadd2 __hsub2 __hmul2 __hadd2_rn __hsub2_rn __hmul2_rn __h2div
    __hadd2_sat __hsub2_sat __hmul2_sat __hmax2_nan __hmin2_nan
half(half2): __high2half __low2half
half(half, half): __hmax __hmin __hadd __hsub __hmul __hadd_rn __hsub_rn __hmul_rn __hdiv __hadd_sat __hsub_sat
    __hmul_sat __hmax_nan __hmin_nan
u32(half2, half2): __heq2_mask __hne2_mask __hle2_mask __hge2_mask __hlt2_mask __hgt2_mask __hequ2_mask __hneu2_mask
    __hleu2_mask __hgeu2_mask __hltu2_mask __hgtu2_mask
half2(half2, half2, half2): __hfma2 __hfma2_sat __hfma2_relu __hcmadd
half(half, half, half): __hfma __hfma_sat __hfma_relu
bool(half2, half2): __hbeq2 __hbne2 __hble2 __hbge2 __hblt2 __hbgt2 __hbequ2 __hbneu2 __hbleu2 __hbgeu2 __hbltu2
    __hbgtu2
bool(half, half): __heq __hne __hle __hge __hlt __hgt __hequ __hneu __hleu __hgeu __hltu __hgtu
bool(half): __hisnan
"""
OTHERS = """
float(float): __frcp_rn __frcp_rz __frcp_ru __frcp_rd __fsqrt_rn __fsqrt_rz __fsqrt_ru __frsqrt_rn sqrtf fabsf floorf
    ceilf truncf rintf roundf nearbyintf __saturatef sinf cosf logf log2f log10f log1pf expm1f acosf lgammaf
    cvt.rni.f32.f32 cvt.rzi.ftz.f32.f32 cvt.sat.f32.f32 neg.ftz.f32 abs.f32
float(float, float): __fadd_rn __fadd_rz __fadd_ru __fadd_rd __fsub_rz __fmul_rn __fmul_rz __fmul_ru __fmul_rd
    __fdiv_rn __fdiv_rz __fdiv_ru __fdiv_rd fminf fmaxf fmodf powf atan2f hypotf copysignf remainderf fdimf nextafterf
    add.ftz.f32 mul.ftz.f32 add.sat.f32 min.f32 max.f32 min.NaN.f32 max.ftz.f32 sub.rm.f32
float(float, float, float): __fmaf_rn __fmaf_rz __fmaf_ru __fmaf_rd fmaf
double(double): __drcp_rn __drcp_rz __dsqrt_rn sqrt floor ceil rint trunc sin exp log cbrt erf
double(double, double): __dadd_rn __dadd_rz __dadd_ru __ddiv_rn fmin fmax fmod pow
double(double, double, double): fma
s32(s32): __clz __ffs abs
s32(s64): __clzll __ffsll
s32(u32): __popc
s32(u64): __popcll
u32(u32): __brev __vneg4 __vabsss2 bfind.u32 bfind.shiftamt.u32 bfind.s32 bfind.shiftamt.s32 cnot.b32
    movmatrix.sync.aligned.m8n8.trans.b16
u64(u64): __brevll
s64(s64): llabs
s32(s32, s32): __mulhi __mul24 min __hadd __rhadd
u32(u32, u32): __umulhi __umul24 umax __uhadd __vadd2 __vadd4 __vabsdiffu4 __vmaxs2 __vminu4 __vcmpeq4 __vavgu4
    __vsads4 __vaddss4 __vaddus2 __vcmpgts2 add.sat.s32 sub.sat.s32 mul24.hi.s32 mul24.lo.u32 set.lo.u32.u32
    set.ls.u32.u32 set.hi.u32.u32 set.hs.u32.u32 set.lt.s32.s32 set.ge.s32.s32
s64(s64, s64): __mul64hi
u64(u64, u64): __umul64hi
s32(float): __float2int_rn __float2int_rz __float2int_ru __float2int_rd
u32(float): __float2uint_rn __float2uint_rz cvt.rna.tf32.f32
s64(float): __float2ll_rn __float2ll_rz
u64(float): __float2ull_rz
s32(double): __double2int_rn
u32(double): __double2uint_rz
s64(double): __double2ll_rd
u64(double): __double2ull_ru
float(double): __double2float_rn __double2float_rz __double2float_ru __double2float_rd
float(s32): __int2float_rn __int2float_rz __int2float_ru
float(u32): __uint2float_rd
float(s64): __ll2float_rn __ll2float_rz __ll2float_ru
float(u64): __ull2float_rd __ull2float_rn
double(s64): __ll2double_rz
double(u64): __ull2double_ru __ull2double_rn
u32(u32, u32, u32): __funnelshift_l __funnelshift_r __funnelshift_lc __funnelshift_rc __byte_perm __dp4a __usad
    prmt.b32 prmt.b32.f4e prmt.b32.b4e prmt.b32.rc8 prmt.b32.ecl prmt.b32.ecr prmt.b32.rc16 mad.hi.s32 mad24.lo.s32
    sad.u32 slct.u32.s32
s32(s32, s32, s32): __dp4a __dp2a_lo __dp2a_hi
s32(s32, s32, u32): __sad
u32(float, float): set.eq.u32.f32 set.ne.u32.f32 set.lt.u32.f32 set.le.u32.f32 set.gt.u32.f32 set.ge.u32.f32
    set.equ.u32.f32 set.neu.u32.f32 set.ltu.u32.f32 set.leu.u32.f32 set.gtu.u32.f32 set.geu.u32.f32 set.num.u32.f32
    set.nan.u32.f32
"""
INTEGERS = ("s32", "u32", "s64", "u64", "s16", "u16", "s8")
EXPRESSIONS = (
    "a / (b | 1)",
    "a % (b | 1)",
    "a << (b & 7)",
    "a >> (b & 7)",
    "a + b",
    "a - b",
    "a * b",
    "a & b",
    "a ^ b",
)
RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
# PTX that is more than a name and its operands, by the types of the result and of the operands.
TEXTS = {
    "u32(u32)": (
        "{.reg .s16 t; cvt.sat.s8.s32 t, %1; cvt.s32.s8 %0, t;}",
        "{.reg .s16 t; cvt.sat.u8.s32 t, %1; cvt.u32.u8 %0, t;}",
        "{.reg .u16 t; cvt.sat.u16.s32 t, %1; cvt.u32.u16 %0, t;}",
        "{.reg .s16 t; cvt.s8.s32 t, %1; cvt.s32.s8 %0, t;}",
        "{.reg .s16 t; cvt.u8.u32 t, %1; cvt.u32.u8 %0, t;}",
        "{.reg .s16 t; cvt.s16.s32 t, %1; cvt.s32.s16 %0, t;}",
        "{.reg .u32 a; and.b32 a,%1,3; match.any.sync.b32 %0, a, -1;}",
        "redux.sync.max.s32 %0, %1, -1;",
        "redux.sync.xor.b32 %0, %1, -1;",
    ),
    "u32(u32, u32)": (
        "{.reg .u32 a; and.b32 a,%2,63; shl.b32 %0, %1, a;}",
        "{.reg .u32 a; and.b32 a,%2,63; shr.u32 %0, %1, a;}",
        "{.reg .u32 a; and.b32 a,%2,63; shr.s32 %0, %1, a;}",
        "{.reg .u32 a,b; and.b32 a,%1,31; and.b32 b,%2,63; bmsk.clamp.b32 %0, a, b;}",
        "{.reg .u32 b; and.b32 b,%2,31; add.u32 b,b,1; szext.clamp.s32 %0, %1, b;}",
    ),
    "u32(u32, u32, u32)": (
        *(f"lop3.b32 %0, %1, %2, %3, {table};" for table in (26, 91, 226, 150, 127, 66)),
        "{.reg .u32 a,b; and.b32 a,%2,127; and.b32 b,%3,127; bfe.u32 %0, %1, a, b;}",
        "{.reg .pred p; shfl.sync.up.b32 %0|p, %1, 3, 0x0800, -1; @p add.u32 %0,%0,1;}",
        "{.reg .pred p; .reg .u32 l; and.b32 l,%2,31; shfl.sync.idx.b32 %0|p, %1, l, 0x101f, -1; @p add.u32 %0,%0,1;}",
        "{.reg .pred p; shfl.sync.down.b32 %0|p, %1, 5, 0x181f, -1; @p add.u32 %0,%0,1;}",
        "{.reg .pred p; shfl.sync.bfly.b32 %0|p, %1, 9, 0x0c1f, -1; @p add.u32 %0,%0,1;}",
    ),
    "s32(s32, u32, u32)": ("{.reg .u32 a,b; and.b32 a,%2,127; and.b32 b,%3,127; bfe.s32 %0, %1, a, b;}",),
    "u64(u64, u32, u32)": ("{.reg .u32 a,b; and.b32 a,%2,127; and.b32 b,%3,127; bfe.u64 %0, %1, a, b;}",),
    "s64(s64, u32, u32)": ("{.reg .u32 a,b; and.b32 a,%2,127; and.b32 b,%3,127; bfe.s64 %0, %1, a, b;}",),
    "u32(u32, u32, u32, u32)": ("{.reg .u32 a,b; and.b32 a,%3,127; and.b32 b,%4,127; bfi.b32 %0, %1, %2, a, b;}",),
    "u64(u64, u64, u32, u32)": ("{.reg .u32 a,b; and.b32 a,%3,127; and.b32 b,%4,127; bfi.b64 %0, %1, %2, a, b;}",),
    "u64(u64, u32)": ("{.reg .u32 a; and.b32 a,%2,127; shr.s64 %0, %1, a;}",),
    "u32(float, float, u32)": tuple(
        "{.reg .pred p,q,r; setp.gt.s32 r,%3,0; "
        f"setp.{relation}.and.f32 p|q, %1, %2, r; selp.u32 %0, 5, 9, p; @q add.u32 %0,%0,100;}}"
        for relation in RELATIONS
    ),
    "u64(u32, u32, u32, u32)": (
        "{.reg .u32 a,b; add.cc.u32 a,%1,%2; addc.cc.u32 b,%3,%4; addc.u32 b,b,0; mov.b64 %0,{a,b};}",
        "{.reg .u32 a,b; sub.cc.u32 a,%1,%2; subc.u32 b,%3,%4; mov.b64 %0,{a,b};}",
        "{.reg .u32 a,b; mad.lo.cc.u32 a,%1,%2,%3; madc.hi.u32 b,%1,%2,%4; mov.b64 %0,{a,b};}",
    ),
}
HEAD = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef __nv_bfloat16 bfloat16; typedef __nv_bfloat162 bfloat162;
typedef signed char s8; typedef unsigned char u8; typedef short s16; typedef unsigned short u16;
typedef int s32; typedef unsigned u32; typedef long long s64; typedef unsigned long long u64;
"""
LETTERS = {"s32": "r", "u32": "r", "s64": "l", "u64": "l", "float": "f"}  # of the types in inline PTX


class Operation(NamedTuple):
    """code: an expression in a, b, c and e, or PTX with %0, %1, …"""

    result: str
    operands: tuple[str, ...]
    code: str

    def kernel(self, name: str) -> str:
        """CUDA source of a kernel: thread t reads operand n at in + 32 n + 8 t and writes the result at out + 16 t."""
        named = list(zip("abce", self.operands, strict=False))
        loads = "".join(
            f"const {kind} {letter} = *(const {kind}*)(in + {32 * n} + threadIdx.x * 8); "
            for n, (letter, kind) in enumerate(named)
        )
        code = f"d = {self.code};"
        if "%0" in self.code:
            given = ", ".join(f'"{LETTERS[kind]}"({letter})' for letter, kind in named)
            code = f'asm volatile("{self.code}" : "={LETTERS[self.result]}"(d) : {given});'
        return (
            f'extern "C" __global__ void {name}(const char* in, char* out) {{ '
            f"{loads}{self.result} d; {code} *({self.result}*)(out + threadIdx.x * 16) = d; }}\n"
        )


def types(text: str) -> tuple[str, tuple[str, ...]]:
    """The result and the operands of a text such as "half(half, float)"."""
    result, _, operands = text.removesuffix(")").partition("(")
    return result, tuple(operands.split(", "))


def listed(table: str) -> list[Operation]:
    """The operations of a table such as `HALVES`."""
    found = []
    for line in table.strip().replace("\n    ", " ").split("\n"):
        head, _, names = line.partition(": ")
        result, operands = types(head)
        given = ", ".join(f"%{n}" for n in range(len(operands) + 1)), ", ".join("abce"[: len(operands)])
        codes = (f"{name} {given[0]};" if "." in name else f"{name}({given[1]})" for name in names.split())
        found += [Operation(result, operands, code) for code in codes]
    return found


OPERATIONS = [
    *listed(HALVES),
    *listed(HALVES.replace("half", "bfloat16")),
    *listed(OTHERS),
    *(Operation(kind, (kind, kind), code) for kind in INTEGERS for code in EXPRESSIONS),
    *(Operation(*types(head), text) for head, texts in TEXTS.items() for text in texts),
]
