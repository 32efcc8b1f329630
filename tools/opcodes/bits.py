"""Cases of logic, bit fields, comparisons, selections and moves."""

from __future__ import annotations

from collections.abc import Iterator

from tools.opcodes.arithmetic import plain
from tools.opcodes.case import Case

TABLES = bytes.fromhex("00 01 0F 1E 2D 3C 40 69 6A 78 80 96 B8 C0 CA E8 EA F8 FE FF")  # of lop3
ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def logic_cases() -> Iterator[Case]:
    """Logic and shifts."""
    for width in (16, 32, 64):
        kind = f"b{width}"
        for family in ("and", "or", "xor"):
            yield plain(f"{family}.{kind}", (kind,) * 2, kind)
        for family in ("not", "cnot"):
            yield plain(f"{family}.{kind}", (kind,), kind)
        yield plain(f"shl.{kind}", (kind, "u32:amount"), kind)
        for sign in "bus":
            yield plain(f"shr.{sign}{width}", (f"{sign}{width}", "u32:amount"), f"{sign}{width}")
    for family in ("and", "or", "xor"):
        text = (
            f"{{ .reg .pred p, q; setp.ne.u16 p, %1, 0; setp.ne.u16 q, %2, 0; {family}.pred p, p, q; "
            "selp.u16 %0, 1, 0, p; }"
        )
        yield Case(f"{family}.pred", text, ("pred", "pred"), ("pred",))
    text = "{ .reg .pred p; setp.ne.u16 p, %1, 0; not.pred p, p; selp.u16 %0, 1, 0, p; }"
    yield Case("not.pred", text, ("pred",), ("pred",))
    for table in TABLES:
        yield Case(f"lop3.b32 {table:#04x}", f"lop3.b32 %0, %1, %2, %3, {table:#x};", ("b32:bytes",) * 3, ("b32",))
    for way in ("or", "and"):
        text = (
            f"{{ .reg .pred p, q; setp.ne.u16 q, %5, 0; lop3.{way}.b32 %0|p, %2, %3, %4, 0x80, q; "
            "selp.u16 %1, 1, 0, p; }"
        )
        yield Case(f"lop3.{way}.b32", text, ("b32", "b32", "b32", "pred"), ("b32", "pred"))
    for side in "lr":
        for mode in ("wrap", "clamp"):
            yield plain(f"shf.{side}.{mode}.b32", ("b32", "b32", "u32:amount"), "b32")
    for kind in ("u32", "s32", "u64", "s64"):
        yield plain(f"bfe.{kind}", (kind, "u32:any", "u32:amount"), kind)
        for form in ("", ".shiftamt"):
            yield plain(f"bfind{form}.{kind}", (kind,), "u32")
    for kind in ("b32", "b64"):
        yield plain(f"bfi.{kind}", (kind, kind, "u32:any", "u32:amount"), kind)
        yield plain(f"popc.{kind}", (kind,), "u32")
        yield plain(f"clz.{kind}", (kind,), "u32")
        yield plain(f"brev.{kind}", (kind,), kind)
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        name = f"prmt.b32{mode}"
        yield Case(name, f"{name} %0, %1, %2, %3;", ("b32:bytes", "b32:bytes", "b32:selector"), ("b32",))
    for mode in ("clamp", "wrap"):
        yield plain(f"bmsk.{mode}.b32", ("u32:any", "u32:amount"), "b32")
        for kind in ("u32", "s32"):
            yield plain(f"szext.{mode}.{kind}", (kind, "u32:amount"), kind)


def _compare(name: str, operation: str, kind: str, ends: str = "") -> Case:
    text = f"{{ .reg .pred p; {operation} p, %1, %2; selp.u16 %0, 1, 0, p; }}"
    return Case(name + ends, text, (kind, kind), ("pred",))


def comparison_cases() -> Iterator[Case]:
    """setp, set, selp and slct; the values include NaN."""
    for kind in ("u16", "s16", "u32", "s32", "u64", "s64"):
        for relation in (*ORDERED, *(("lo", "ls", "hi", "hs") if kind[0] == "u" else ())):
            yield _compare(f"setp.{relation}.{kind}", f"setp.{relation}.{kind}", kind)
    for kind in ("b16", "b32", "b64"):
        for relation in ("eq", "ne"):
            yield _compare(f"setp.{relation}.{kind}", f"setp.{relation}.{kind}", kind)
    for kind in ("f32", "f64", "f16", "bf16"):
        for relation in (*ORDERED, *UNORDERED):
            yield _compare(f"setp.{relation}.{kind}", f"setp.{relation}.{kind}", kind)
    for relation in ("eq", "lt", "geu", "nan"):
        yield _compare(f"setp.{relation}.ftz.f32", f"setp.{relation}.ftz.f32", "f32")
        for kind in ("f16x2", "bf16x2"):
            text = (
                f"{{ .reg .pred p, q; setp.{relation}.{kind} p|q, %2, %3; selp.u16 %0, 1, 0, p; "
                "selp.u16 %1, 1, 0, q; }"
            )
            yield Case(f"setp.{relation}.{kind}", text, (kind, kind), ("pred", "pred"))
    for way in ("and", "or", "xor"):
        for kind in ("s32", "f32"):
            text = (
                f"{{ .reg .pred p, q, r; setp.ne.u16 r, %4, 0; setp.lt.{way}.{kind} p|q, %2, %3, r; "
                "selp.u16 %0, 1, 0, p; selp.u16 %1, 1, 0, q; }"
            )
            yield Case(f"setp.lt.{way}.{kind}", text, (kind, kind, "pred"), ("pred", "pred"))
            text = f"{{ .reg .pred r; setp.ne.u16 r, %3, 0; set.ge.{way}.u32.{kind} %0, %1, %2, r; }}"
            yield Case(f"set.ge.{way}.u32.{kind}", text, (kind, kind, "pred"), ("u32",))
    for to in ("u32", "s32", "f32"):
        for kind in ("u16", "s16", "b32", "u32", "s32", "u64", "s64", "f32", "f64"):
            yield plain(f"set.ne.{to}.{kind}", (kind, kind), to)
    for relation in ("gt", "leu"):
        for to, kind in (("u32", "f16"), ("f16", "f16"), ("bf16", "bf16"), ("f16x2", "f16x2"), ("bf16x2", "bf16x2")):
            yield plain(f"set.{relation}.{to}.{kind}", (kind, kind), to)
    yield plain("set.eq.ftz.u32.f32", ("f32", "f32"), "u32")
    for kind in ("b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"):
        text = f"{{ .reg .pred p; setp.ne.u16 p, %3, 0; selp.{kind} %0, %1, %2, p; }}"
        yield Case(f"selp.{kind}", text, (kind, kind, "pred"), (kind,))
        for by in ("s32", "f32"):
            yield plain(f"slct.{kind}.{by}", (kind, kind, by), kind)
    yield plain("slct.ftz.f32.f32", ("f32", "f32", "f32"), "f32")


def move_cases() -> Iterator[Case]:
    """Moves, packing and special registers."""
    for kind in ("u16", "u32", "u64", "s64", "f32", "f64"):
        yield plain(f"mov.{kind}", (kind,), kind)
    yield Case("mov.b32 pack", "mov.b32 %0, {%1, %2};", ("b16", "b16"), ("b32",))
    yield Case("mov.b64 pack", "mov.b64 %0, {%1, %2};", ("b32", "b32"), ("b64",))
    yield Case("mov.b64 pack 4", "mov.b64 %0, {%1, %2, %3, %4};", ("b16",) * 4, ("b64",))
    yield Case("mov.b32 unpack", "mov.b32 {%0, %1}, %2;", ("b32",), ("b16", "b16"))
    yield Case("mov.b64 unpack", "mov.b64 {%0, %1}, %2;", ("b64",), ("b32", "b32"))
    masks = (f"lanemask_{relation}" for relation in ("lt", "le", "eq", "ge", "gt"))
    for name in ("tid.x", "ctaid.x", "ntid.x", "nctaid.x", "laneid", *masks):
        yield Case(f"mov.u32 {name}", f"mov.u32 %0, %%{name};", ("b32",), ("u32",))


def cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from logic_cases()
    yield from comparison_cases()
    yield from move_cases()
