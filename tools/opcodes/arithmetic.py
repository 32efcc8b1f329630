"""Cases of arithmetic on integers and floating-point numbers, and of approximate functions."""

from __future__ import annotations

from collections.abc import Iterator

from tools.opcodes.case import Case

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
ROUNDINGS = ("rn", "rz", "rm", "rp")
HALVES = ("f16", "f16x2", "bf16", "bf16x2")


def plain(opcode: str, ins: tuple[str, ...], out: str, tolerance=None) -> Case:
    """A case with the opcode, one result and its operands. tolerance: as for `Case`."""
    operands = ", ".join(f"%{n}" for n in range(len(ins) + 1))
    return Case(opcode, f"{opcode} {operands};", ins, (out,), tolerance)


def integer_cases() -> Iterator[Case]:
    """Integer arithmetic for every width, signed and unsigned."""
    for kind in INTEGERS:
        two, three = (kind,) * 2, (kind,) * 3
        for family in ("add", "sub", "min", "max", "mul.lo", "mul.hi"):
            yield plain(f"{family}.{kind}", two, kind)
        for family in ("mad.lo", "mad.hi", "sad"):
            yield plain(f"{family}.{kind}", three, kind)
        for family in ("div", "rem"):
            yield plain(f"{family}.{kind}", (kind, f"{kind}:divisor"), kind)
        if kind[0] == "s":
            yield plain(f"abs.{kind}", (kind,), kind)
            yield plain(f"neg.{kind}", (kind,), kind)
        if kind[1:] != "64":
            wide = f"{kind[0]}{2 * int(kind[1:])}"
            yield plain(f"mul.wide.{kind}", two, wide)
            yield plain(f"mad.wide.{kind}", (*two, wide), wide)
        if kind[1:] == "32":
            for form in ("lo", "hi"):
                yield plain(f"mul24.{form}.{kind}", two, kind)
                yield plain(f"mad24.{form}.{kind}", three, kind)
    for family in ("add", "sub"):
        yield plain(f"{family}.sat.s32", ("s32",) * 2, "s32")
    for kind in ("u16x2", "s16x2"):
        for family in ("add", "min", "max"):
            yield plain(f"{family}.{kind}", (kind,) * 2, kind)
    for family in ("min", "max"):
        yield plain(f"{family}.relu.s32", ("s32",) * 2, "s32")
        yield plain(f"{family}.relu.s16x2", ("s16x2",) * 2, "s16x2")
    for a in ("u32", "s32"):
        for b in ("u32", "s32"):
            out = "u32" if a == b == "u32" else "s32"
            yield plain(f"dp4a.{a}.{b}", ("s8x4:bytes", "s8x4:bytes", out), out)
            for half in ("lo", "hi"):
                yield plain(f"dp2a.{half}.{a}.{b}", ("s8x4:bytes", "s8x4:bytes", out), out)
    yield from _carries()
    for family in ("vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4"):
        for kind in ("u32", "s32"):
            yield plain_video(family, kind, "")
            yield plain_video(family, kind, ".add")


def plain_video(family: str, kind: str, add: str) -> Case:
    """A video instruction on bytes. Without .add the third operand is not read, but PTX requires it."""
    out = "u32" if family == "vabsdiff4" and not add else kind
    name = f"{family}.{out}.{kind}.{kind}{add}"
    return Case(name, f"{name} %0, %1, %2, %3;", ("b32:bytes", "b32:bytes", "b32"), ("b32",))


def _carries() -> Iterator[Case]:
    """Sequences of instructions: the first sets the carry, the next ones use it."""
    for kind in ("u32", "s32", "u64", "s64"):
        four = (kind,) * 4
        for first, second in (("add", "addc"), ("sub", "subc")):
            text = f"{first}.cc.{kind} %0, %3, %4; {second}.cc.{kind} %1, %5, %6; {second}.{kind} %2, %3, %6;"
            yield Case(f"{second}.{kind}", text, four, (kind,) * 3)
        text = f"mad.lo.cc.{kind} %0, %3, %4, %5; madc.hi.cc.{kind} %1, %3, %4, %6; madc.lo.{kind} %2, %5, %6, %3;"
        yield Case(f"madc.{kind}", text, four, (kind,) * 3)


def float_cases() -> Iterator[Case]:
    """FP32 and FP64 in every rounding mode."""
    for kind, ends in (("f32", ("", ".ftz", ".sat", ".ftz.sat")), ("f64", ("",))):
        two, three = (kind,) * 2, (kind,) * 3
        for mode in ROUNDINGS:
            for end in ends:
                for family in ("add", "sub", "mul"):
                    yield plain(f"{family}.{mode}{end}.{kind}", two, kind)
                yield plain(f"fma.{mode}{end}.{kind}", three, kind)
            for end in ends[:2]:
                yield plain(f"div.{mode}{end}.{kind}", two, kind)
                yield plain(f"sqrt.{mode}{end}.{kind}", (kind,), kind)
                yield plain(f"rcp.{mode}{end}.{kind}", (kind,), kind)
        yield plain(f"mad.rn.{kind}", three, kind)
        for end in ends[:2]:
            for family in ("min", "max"):
                yield plain(f"{family}{end}.{kind}", two, kind)
                if kind == "f32":
                    yield plain(f"{family}{end}.NaN.{kind}", two, kind)
            for family in ("abs", "neg"):
                yield plain(f"{family}{end}.{kind}", (kind,), kind)
        yield plain(f"copysign.{kind}", two, kind)
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            text = f"{{ .reg .pred p; testp.{test}.{kind} p, %1; selp.u16 %0, 1, 0, p; }}"
            yield Case(f"testp.{test}.{kind}", text, (kind,), ("pred",))


def half_cases() -> Iterator[Case]:
    """FP16 and BF16, scalar and packed."""
    for kind in HALVES:
        two, three, brain = (kind,) * 2, (kind,) * 3, kind.startswith("b")
        ends = ("",) if brain else ("", ".ftz", ".sat", ".ftz.sat")
        for end in ends:
            for family in ("add", "sub", "mul"):
                yield plain(f"{family}.rn{end}.{kind}", two, kind)
            yield plain(f"fma.rn{end}.{kind}", three, kind)
        yield plain(f"fma.rn.relu.{kind}", three, kind)
        for end in ("",) if brain else ("", ".ftz"):
            for family in ("min", "max"):
                yield plain(f"{family}{end}.{kind}", two, kind)
                yield plain(f"{family}{end}.NaN.{kind}", two, kind)
            for family in ("abs", "neg"):
                yield plain(f"{family}{end}.{kind}", (kind,), kind)


# Largest errors (relative, absolute) of the approximations. Source: PTX ISA, the section of each instruction. One unit
# in the last place is added, because the simulator rounds the exact value. Near zero, a difference of a few subnormal
# steps is allowed, and with .ftz one of the smallest normal number.
_ULP = 2.0**-23


def approximate_cases() -> Iterator[Case]:
    """Approximate functions, with the error that the PTX ISA allows."""
    for ftz, least in (("", 2.0**-147), (".ftz", 2.0**-126)):
        for family, relative, absolute, values in (
            ("rcp", _ULP, least, "f32"),
            ("sqrt", 2 * _ULP, 0.0, "f32"),
            ("rsqrt", 2 * _ULP, 0.0, "f32"),
            ("ex2", 3 * _ULP, least, "f32"),
            ("lg2", 2.0**-22, 2.0**-22, "f32"),
            ("sin", 0.0, 2.0**-20.5, "f32:angle"),
            ("cos", 0.0, 2.0**-20.5, "f32:angle"),
        ):
            yield plain(f"{family}.approx{ftz}.f32", (values,), "f32", (relative + _ULP, absolute))
        for form in ("approx", "full"):
            yield plain(f"div.{form}{ftz}.f32", ("f32", "f32:moderate"), "f32", (3 * _ULP, least))
    yield plain("tanh.approx.f32", ("f32",), "f32", (2.0**-10.9, 0.0))
    for family in ("rcp", "rsqrt"):
        yield plain(f"{family}.approx.ftz.f64", ("f64",), "f64", (2.0**-19, 0.0))
    for kind in HALVES:
        brain = kind.startswith("b")
        last = 2.0**-7 if brain else 2.0**-10
        yield plain(f"tanh.approx.{kind}", (kind,), kind, (last, 2.0**-8 if brain else 2.0**-10.9))
        ending = ".ftz" if brain else ""
        yield plain(f"ex2.approx{ending}.{kind}", (kind,), kind, (2.0**-7 + last if brain else 2.0**-9.9 + last, 0.0))


def cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from integer_cases()
    yield from float_cases()
    yield from half_cases()
    yield from approximate_cases()
