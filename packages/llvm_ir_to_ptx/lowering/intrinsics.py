"""The functions llvm.* and llvm.nvvm.*, which stand for instructions."""

from __future__ import annotations

import re

from llvm_ir_to_ptx.code import register_type, width
from llvm_ir_to_ptx.lowering import conversions, floats, integers
from llvm_ir_to_ptx.lowering.context import Lowering
from llvm_ir_to_ptx.lowering.memory_blocks import copied, filled
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.types import BOOLEAN, WORD, Float, Integer, Scalar, scalars
from llvm_ir_to_ptx.reading.values import Number
from llvm_ir_to_ptx.unsupported import UnsupportedIR

# Those that say something to the optimiser, and do nothing.
_SILENT = (
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.dbg.",
    "llvm.experimental.noalias",
    "llvm.invariant.",
    "llvm.donothing",
)
# Registers that have another value each time they are read.
_CHANGING = {"clock", "clock64", "globaltimer", "clock_hi", "globaltimer_lo", "globaltimer_hi"}
_WIDE_SPECIAL = {"clock64", "globaltimer", "gridid"}
# Instructions with an effect, with their operands in the places of {}.
_EFFECTS = {
    "barrier0": "bar.sync 0;",
    "barrier.sync": "barrier.sync {};",
    "barrier.sync.cnt": "barrier.sync {}, {};",
    "barrier.cta.sync.aligned.all": "bar.sync {};",
    "barrier.cta.sync.aligned.count": "bar.sync {}, {};",
    "barrier.cta.arrive.aligned.count": "bar.arrive {}, {};",
    "barrier.cta.sync.all": "barrier.sync {};",
    "barrier.cta.sync.count": "barrier.sync {}, {};",
    "bar.warp.sync": "bar.warp.sync {};",
    "membar.cta": "membar.cta;",
    "membar.gl": "membar.gl;",
    "membar.sys": "membar.sys;",
    "fence.sc.cluster": "fence.sc.cluster;",
    "cp.async.commit.group": "cp.async.commit_group;",
    "cp.async.wait.all": "cp.async.wait_all;",
    "cp.async.wait.group": "cp.async.wait_group {};",
    "exit": "exit;",
    "nanosleep": "nanosleep.u32 {};",
}
# Instructions that only compute: opcode and the type of the result's register.
_PURE = {
    "add.rn.f": ("add.rn.f32", "f32"),
    "mul.rn.f": ("mul.rn.f32", "f32"),
    "div.rn.f": ("div.rn.f32", "f32"),
    "div.full": ("div.full.f32", "f32"),
    "div.approx.f": ("div.approx.f32", "f32"),
    "fma.rn.f": ("fma.rn.f32", "f32"),
    "fma.rn.d": ("fma.rn.f64", "f64"),
    "fma.rn.f16": ("fma.rn.f16", "b16"),
    "fma.rn.f16x2": ("fma.rn.f16x2", "b32"),
    "rcp.rn.f": ("rcp.rn.f32", "f32"),
    "rcp.approx.ftz.f": ("rcp.approx.ftz.f32", "f32"),
    "sqrt.rn.f": ("sqrt.rn.f32", "f32"),
    "sqrt.f": ("sqrt.rn.f32", "f32"),
    "sqrt.approx.f": ("sqrt.approx.f32", "f32"),
    "rsqrt.approx.f": ("rsqrt.approx.f32", "f32"),
    "ex2.approx": ("ex2.approx.f32", "f32"),
    "ex2.approx.f": ("ex2.approx.f32", "f32"),
    "ex2.approx.f32": ("ex2.approx.f32", "f32"),
    "ex2.approx.ftz.f": ("ex2.approx.ftz.f32", "f32"),
    "ex2.approx.ftz.f32": ("ex2.approx.ftz.f32", "f32"),
    "lg2.approx.f": ("lg2.approx.f32", "f32"),
    "lg2.approx.ftz.f": ("lg2.approx.ftz.f32", "f32"),
    "sin.approx.f": ("sin.approx.f32", "f32"),
    "cos.approx.f": ("cos.approx.f32", "f32"),
    "tanh.approx.f32": ("tanh.approx.f32", "f32"),
    "fmin.f": ("min.f32", "f32"),
    "fmax.f": ("max.f32", "f32"),
    "fabs.f32": ("abs.f32", "f32"),
    "fabs.f": ("abs.f32", "f32"),
    "saturate.f": ("cvt.sat.f32.f32", "f32"),
    "mulhi.i": ("mul.hi.s32", "b32"),
    "mulhi.ui": ("mul.hi.u32", "b32"),
    "mulhi.ll": ("mul.hi.s64", "b64"),
    "mulhi.ull": ("mul.hi.u64", "b64"),
    "prmt": ("prmt.b32", "b32"),
    "f2i.rn": ("cvt.rni.s32.f32", "b32"),
    "f2i.rm": ("cvt.rmi.s32.f32", "b32"),
    "f2i.rz": ("cvt.rzi.s32.f32", "b32"),
    "f2h.rn": ("cvt.rn.f16.f32", "b16"),
    "f2bf16.rn": ("cvt.rn.bf16.f32", "b16"),
    "ff2f16x2.rn": ("cvt.rn.f16x2.f32", "b32"),
    "ff2bf16x2.rn": ("cvt.rn.bf16x2.f32", "b32"),
}
_SHUFFLES = {"idx", "up", "down", "bfly"}
_ROUNDINGS = {"floor": "rmi", "ceil": "rpi", "trunc": "rzi", "rint": "rni", "nearbyint": "rni", "roundeven": "rni"}
_EXTREMES = {
    "minnum": "min",
    "maxnum": "max",
    "minimumnum": "min",
    "maximumnum": "max",
    "minimum": "min.NaN",
    "maximum": "max.NaN",
}


def intrinsic(low: Lowering, call: Instruction) -> None:
    """Translate a call of a function llvm.*. Raises `UnsupportedIR` for one that is not known here."""
    name = call.callee
    if name.startswith(_SILENT):
        return
    if name.startswith("llvm.nvvm."):
        _nvvm(low, call, name.removeprefix("llvm.nvvm."))
        return
    words = name.removeprefix("llvm.").split(".")
    if words[0] in ("memcpy", "memmove"):
        copied(low, call)
    elif words[0] == "memset":
        filled(low, call)
    elif words[0] in ("expect", "ssa"):
        low.define(call, *low.operands(call.operands[0]))
    elif words[0] in ("trap", "debugtrap", "ubsantrap"):
        low.code.put("trap;" if words[0] != "debugtrap" else "brkpt;")
    elif words[:2] == ["vector", "reduce"]:
        low.define(call, _reduced(low, call, words[2]))
    elif words[:2] == ["is", "fpclass"]:
        low.define(call, _of_class(low, call))
    elif words[0] in ("umul", "uadd", "usub", "smul", "sadd", "ssub") and words[1] == "with":
        low.define(call, *_with_overflow(low, call, words[0]))
    else:
        values = [low.registers(operand) for operand in call.operands]
        kinds = scalars(call.type)
        wide = [value * len(kinds) if len(value) == 1 else value for value in values]
        low.define(call, *(_scalar(low, words[0], kind, list(each)) for kind, *each in zip(kinds, *wide, strict=True)))


def _scalar(low: Lowering, name: str, kind: Scalar, values: list[str]) -> str:
    """The result of a function llvm.* on scalars of one type."""
    found = None
    if isinstance(kind, Integer):
        found = _integer(low, name, kind, values)
    elif isinstance(kind, Float):
        found = _float(low, name, kind, values)
    if found is None:
        raise UnsupportedIR(f"The function llvm.{name} on {kind}")
    return found


def _integer(low: Lowering, name: str, of: Integer, values: list[str]) -> str | None:
    """The result of a function on integers; None for one that is not known."""
    code, bits, kind = low.code, width(of), register_type(of)
    first, second = values[0], values[1] if len(values) > 1 else ""
    if name in ("smin", "smax", "umin", "umax") and of != BOOLEAN:
        if name[0] == "s":
            first, second = (integers.sign_extended(code, of, value) for value in (first, second))
        return integers.masked(code, of, code.compute(f"{name[1:]}.{name[0]}{bits}", kind, first, second))
    if name == "abs":
        return integers.masked(code, of, code.compute(f"abs.s{bits}", kind, integers.sign_extended(code, of, first)))
    if name in ("ctpop", "ctlz", "cttz", "bitreverse", "bswap") and of.bits in (32, 64):
        return _of_bits(low, name, of, first)
    if name in ("fshl", "fshr"):
        return _funnel(low, name, of, values)
    if name in ("uadd", "usub", "sadd", "ssub") and of.bits == 32 and name[0] == "s":
        return code.compute(f"{name[1:]}.sat.s32", kind, first, second)
    if name == "usub":
        less = integers.compare(code, "ult", of, first, second)
        return integers.chosen(code, kind, less, "0", integers.binary(code, "sub", of, first, second))
    return None


def _of_bits(low: Lowering, name: str, of: Integer, value: str) -> str:
    """A count of bits, or the bits or bytes in reverse, for 32 or 64 bits."""
    code, bits, kind = low.code, of.bits, register_type(of)
    value = code.in_register(value, kind)
    if name == "bitreverse":
        return code.compute(f"brev.b{bits}", kind, value)
    if name == "bswap":
        if bits == 32:
            return code.compute("prmt.b32", kind, value, "0", "0x0123")
        halves = code.unpack("mov.b64", "b32", 2, value)
        turned = [code.compute("prmt.b32", "b32", half, "0", "0x0123") for half in halves[::-1]]
        return code.compute("mov.b64", kind, f"{{{', '.join(turned)}}}")
    if name == "cttz":
        value = code.compute(f"brev.b{bits}", kind, value)
    counted = code.compute(f"{'popc' if name == 'ctpop' else 'clz'}.b{bits}", "b32", value)
    return conversions.convert(code, "zext", WORD, of, counted)


def _funnel(low: Lowering, name: str, of: Integer, values: list[str]) -> str:
    """The upper or lower half of two numbers side by side that are shifted by a number of places modulo their width."""
    code, (high, low_half, count) = low.code, values
    if of.bits == 32:
        direction = "l" if name == "fshl" else "r"
        return code.compute(f"shf.{direction}.wrap.b32", "b32", low_half, high, count)
    places = integers.binary(code, "and", of, count, str(of.bits - 1))
    if of.bits & (of.bits - 1):
        raise UnsupportedIR(f"The function llvm.{name} on {of}")
    rest = integers.binary(code, "sub", of, str(of.bits), places)
    left, right = (places, rest) if name == "fshl" else (rest, places)
    up, down = integers.binary(code, "shl", of, high, left), integers.binary(code, "lshr", of, low_half, right)
    return integers.binary(code, "or", of, up, down)


def _float(low: Lowering, name: str, of: Float, values: list[str]) -> str | None:
    """The result of a function on floating-point numbers; None for one that is not known."""
    code, kind = low.code, register_type(of)
    if name in ("fma", "fmuladd"):
        return floats.fused(code, of, *values)
    if of.kind == "bfloat" or (of.kind == "half" and name not in _EXTREMES):
        wide = _float(low, name, floats.SINGLE, [floats.widened(code, of, value) for value in values])
        return None if wide is None else floats.narrowed(code, of, wide)
    values = [code.in_register(value, kind) for value in values]
    if name in _EXTREMES:
        return code.compute(f"{_EXTREMES[name]}.f{of.bits}", kind, *values)
    if name == "fabs":
        return code.compute(f"abs.f{of.bits}", kind, *values)
    if name == "sqrt":
        return code.compute(f"sqrt.rn.f{of.bits}", kind, *values)
    if name == "copysign":
        return code.compute(f"copysign.f{of.bits}", kind, values[1], values[0])
    if name in _ROUNDINGS:
        return code.compute(f"cvt.{_ROUNDINGS[name]}.f{of.bits}.f{of.bits}", kind, *values)
    if name in ("exp2", "log2", "sin", "cos") and of.kind == "float":
        opcode = {"exp2": "ex2", "log2": "lg2"}.get(name, name)
        return code.compute(f"{opcode}.approx.f32", kind, *values)
    return None


def _reduced(low: Lowering, call: Instruction, name: str) -> str:
    """The sum, or another combination, of all elements of a vector."""
    *start, vector = call.operands
    kind, values = scalars(call.type)[0], low.registers(vector)
    if start:
        values = [low.register(start[0]), *values]
    whole = values[0]
    for value in values[1:]:
        if name in ("fadd", "fmul") and isinstance(kind, Float):
            whole = floats.binary(low.code, name, kind, whole, value, False)
        elif name in ("add", "mul", "and", "or", "xor") and isinstance(kind, Integer):
            whole = integers.binary(low.code, name, kind, whole, value)
        else:
            whole = _scalar(low, {"fmax": "maxnum", "fmin": "minnum"}.get(name, name), kind, [whole, value])
    return whole


def _with_overflow(low: Lowering, call: Instruction, name: str) -> tuple[str, str]:
    """A result in 32 bits or fewer, and whether it does not fit."""
    code, of = low.code, scalars(call.type)[0]
    if not isinstance(of, Integer) or of.bits > 32:
        raise UnsupportedIR(f"The function {call.callee}")
    wide, extend = Integer(64), "zext" if name[0] == "u" else "sext"
    pair = [conversions.convert(code, extend, of, wide, low.register(operand)) for operand in call.operands]
    whole = integers.binary(code, name[1:], wide, *pair)
    result = conversions.convert(code, "trunc", wide, of, whole)
    back = conversions.convert(code, extend, of, wide, result)
    return result, integers.compare(code, "ne", wide, whole, back)


def _of_class(low: Lowering, call: Instruction) -> str:
    """Whether a number is of one of the kinds that a mask names: LLVM Language Reference, llvm.is.fpclass."""
    code, (number, mask) = low.code, call.operands
    of = scalars(number.type)[0]
    if not isinstance(of, Float) or not isinstance(mask.value, Number):
        raise UnsupportedIR(f"The function {call.callee}")
    digits = {"half": 10, "bfloat": 7, "float": 23, "double": 52}[of.kind]
    whole, sign = Integer(of.bits), 1 << (of.bits - 1)
    infinite, least = (sign - 1) >> digits << digits, 1 << digits
    bits = conversions.same_bits(code, of, whole, code.in_register(low.register(number), register_type(of)))
    size = integers.binary(code, "and", whole, bits, str(sign - 1))

    def between(first: int, behind: int) -> str:
        moved = integers.binary(code, "sub", whole, size, str(first)) if first else size
        return integers.compare(code, "ult", whole, moved, str(behind - first))

    quiet = infinite | least >> 1
    found = [
        between(*ends) for bit, ends in enumerate(((infinite + 1, quiet), (quiet, sign))) if mask.value.value >> bit & 1
    ]
    negative = integers.compare(code, "slt", whole, bits, "0")
    positive = integers.binary(code, "xor", BOOLEAN, negative, "1")
    kinds = ((infinite, infinite + 1), (least, infinite), (1, least), (0, 1))
    for below, (above, ends) in zip((2, 3, 4, 5), zip((9, 8, 7, 6), kinds, strict=True), strict=True):
        signs = mask.value.value >> below & 1, mask.value.value >> above & 1
        if any(signs):
            inside = between(*ends)
            of_sign = negative if signs[0] else positive
            found.append(inside if all(signs) else integers.binary(code, "and", BOOLEAN, inside, of_sign))
    whole_answer = "0"
    for one in found:
        whole_answer = one if whole_answer == "0" else integers.binary(code, "or", BOOLEAN, whole_answer, one)
    return code.in_register(whole_answer, "pred")


# ---- llvm.nvvm ----


def _nvvm(low: Lowering, call: Instruction, name: str) -> None:
    code = low.code
    if name.startswith("read.ptx.sreg."):
        special = name.removeprefix("read.ptx.sreg.")
        kind = "b64" if special in _WIDE_SPECIAL else "b32"
        opcode, source = f"mov.u{kind[1:]}", f"%{special}"
        if special in _CHANGING:
            register = code.register(kind)
            code.put(f"{opcode} {register}, {source};", register)
        else:
            register = code.compute(opcode, kind, source)
        low.define(call, register)
    elif name in _EFFECTS:
        code.put(_EFFECTS[name].format(*(low.register(operand) for operand in call.operands)))
    elif name in _PURE:
        opcode, kind = _PURE[name]
        low.define(call, code.compute(opcode, kind, *(value for o in call.operands for value in low.in_registers(o))))
    elif name.startswith("shfl.sync.") and name.split(".")[2] in _SHUFFLES:
        _shuffle(low, call, name.split("."))
    elif name.startswith("vote.") or name in ("activemask", "elect.sync"):
        _vote(low, call, name)
    else:
        raise UnsupportedIR(f"The function llvm.nvvm.{name}")


def _shuffle(low: Lowering, call: Instruction, words: list[str]) -> None:
    """shfl.sync; its form with a p also tells whether the lane that was read is in range."""
    mask, value, lane, clamp = call.operands
    kind = register_type(scalars(value.type)[0])
    target = low.code.register(kind)
    (source,) = low.in_registers(value)
    others = ", ".join(low.register(operand) for operand in (lane, clamp, mask))
    if words[-1].endswith("p"):
        inside = low.code.register("pred")
        low.code.put(f"shfl.sync.{words[2]}.b32 {target}|{inside}, {source}, {others};", target, inside)
        low.define(call, target, inside)
    else:
        low.code.put(f"shfl.sync.{words[2]}.b32 {target}, {source}, {others};", target)
        low.define(call, target)


def _vote(low: Lowering, call: Instruction, name: str) -> None:
    """What the lanes of a warp say together."""
    code = low.code
    if name == "activemask":
        target = code.register("b32")
        code.put(f"activemask.b32 {target};", target)
    elif name == "vote.ballot.sync":
        mask, condition = low.register(call.operands[0]), low.in_registers(call.operands[1])[0]
        target = code.register("b32")
        code.put(f"vote.sync.ballot.b32 {target}, {condition}, {mask};", target)
    elif name in ("vote.all.sync", "vote.any.sync", "vote.uni.sync"):
        mask, condition = low.register(call.operands[0]), low.in_registers(call.operands[1])[0]
        target = code.register("pred")
        code.put(f"vote.sync.{re.split('[.]', name)[1]}.pred {target}, {condition}, {mask};", target)
    else:
        raise UnsupportedIR(f"The function llvm.nvvm.{name}")
    low.define(call, target)
