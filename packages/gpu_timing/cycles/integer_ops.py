"""Writes each integer machine instruction as a line of NumPy, for `tracing`.

Only what decides addresses, predicates and branches is executed. Registers are arrays of uint32 with a row for each
warp: (warps, 32) for R, (warps, 1) for uniform registers; predicates are arrays of bool of the same
shapes. A generated line refers to them as `R[5]`, `U[4]`, `P[0]`, `V[0]` (uniform predicates), to the lanes that
execute as `m`, and to the functions of `word_functions` by name.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from gpu_timing.cycles.constant_memory import ConstantMemory
from gpu_timing.cycles.machine_code import Instruction, Operand


def literal(value: object) -> int:
    """The 32 bits of an immediate operand: an integer, or a float of 32 bits."""
    if isinstance(value, float):
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    return int(value) & 0xFFFFFFFF  # type: ignore[call-overload]


SPECIAL_REGISTERS = frozenset((
    "SRZ", "SR_TID.X", "SR_TID.Y", "SR_TID.Z", "SR_LANEID", "SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId",
    "SR_SWINHI", "SR_VIRTID",
))  # fmt: skip
TOKEN = 1  # stands for the phase in which a warp arrived at an mbarrier; a parity has no such bit


# ---- Operands as text ----


class Writer:
    """Turns instructions into lines of NumPy."""

    def __init__(self, constant: ConstantMemory) -> None:
        self.constant = constant
        self.unknown: set[str] = set()  # opcodes that decide an address or a branch and are not executed

    def word(self, operand: Operand, plus: int = 0, carry: bool = False) -> str:
        """Text of a 32-bit source, or of the register `plus` places further."""
        if operand.kind in ("R", "UR"):
            bank = "U" if operand.kind == "UR" else "R"
            text = "ZERO" if operand.value is None else f"{bank}[{operand.value + plus}]"  # type: ignore[operator]
        elif operand.kind == "imm":
            value = literal(operand.value)
            value = value if not plus else 0xFFFFFFFF * (isinstance(operand.value, int) and operand.value < 0)
            text = f"K({value})"
        elif operand.kind == "const":
            bank, offset, register = operand.value  # type: ignore[misc]
            text = "ZERO" if register else f"K({self.constant(bank, offset + 4 * plus)})"
        else:
            text = "ZERO"
        if operand.absolute:
            text = f"low32(np.abs(signed({text})))"
        if operand.negative:
            text = f"~{text}" if carry else f"(ZERO - {text})"
        return f"~{text}" if operand.inverted else text

    def pair(self, operand: Operand) -> str:
        """Text of a 64-bit source."""
        if operand.kind == "const" or (operand.kind in ("R", "UR", "imm") and operand.value is not None):
            plain = Operand(operand.kind, operand.value)
            text = f"wide({self.word(plain)}, {self.word(plain, 1)})"
            return f"(u64(ZERO) - {text})" if operand.negative else text
        return "u64(ZERO)"

    def predicate(self, operand: Operand) -> str:
        """Text of a predicate that is read."""
        bank = "V" if operand.kind == "UP" else "P"
        text = "TRUE" if operand.value == 7 else f"{bank}[{operand.value}]"
        return f"~{text}" if operand.inverted else text

    def guard(self, instruction: Instruction) -> str:
        """Text of the lanes that execute an instruction: those of the block, and its guard."""
        if instruction.guard is None:
            return "m"
        kind, number, inverted = instruction.guard
        return f"m & {self.predicate(Operand(kind, number, inverted=inverted))}"

    def store(self, operand: Operand, text: str, lanes: str, plus: int = 0) -> list[str]:
        """A line that writes a register or a predicate; none for RZ and PT."""
        number = operand.value
        if number is None or (operand.kind in ("P", "UP") and number == 7):
            return []
        name = {"R": "R", "UR": "U", "P": "P", "UP": "V"}[operand.kind]
        if operand.kind in ("UR", "UP"):
            return [f"put_uniform({name}[{number + plus}], {text}, {lanes})"]  # type: ignore[operator]
        return [f"put({name}[{number + plus}], {text}, {lanes})"]  # type: ignore[operator]

    # ---- Instructions as text ----

    def follows(self, one: Instruction) -> bool:
        """Whether the results of `one` are right if what it reads is."""
        written = one.op in _WRITERS or (one.op[0] == "U" and one.op[1:] in _WRITERS)
        of_64_bits = one.op in ("I2F", "F2I") and any("64" in modifier for modifier in one.modifiers)
        return written and not of_64_bits and all(self._is_known(source) for source in one.sources)

    def _is_known(self, source: Operand) -> bool:
        if source.kind == "const":
            return self.constant.knows(*source.value)  # type: ignore[misc]
        return source.kind != "special" or source.value in SPECIAL_REGISTERS

    def lines(self, one: Instruction) -> list[str]:
        """Lines that execute `one`; an instruction with an unknown opcode writes nothing and is noted in `unknown`."""
        op = one.op
        if op not in _WRITERS and op[0] == "U" and op[1:] in _WRITERS:
            op = op[1:]
        writer = _WRITERS.get(op)
        if writer is None:
            self.unknown.add(one.name)
            return []
        return writer(self, one, "g" if one.guard else "m")


def _sum(w: Writer, one: Instruction, g: str) -> list[str]:
    """IADD3, VIADD, IADD, IMAD.IADD: with carries out, and in for .X."""
    if "64" in one.modifiers:
        return _wide_store(
            w, one, g, " + ".join(w.pair(source) for source in one.sources if source.kind not in ("P", "UP"))
        )
    extended = "X" in one.modifiers
    words = [s for s in one.sources if s.kind not in ("P", "UP")]
    carries = [s for s in one.sources if s.kind in ("P", "UP")] if extended else []
    carries = [s for s in carries if not (s.value == 7 and s.inverted)]
    if len(one.destinations) == 1 or all(d.value == 7 for d in one.destinations[1:]):
        terms = [w.word(s, carry=extended) for s in words] + [f"u32({w.predicate(c)})" for c in carries]
        return w.store(one.destinations[0], " + ".join(terms), g)
    terms = []
    for s in words:
        if s.negative and not extended:
            plain = Operand(s.kind, s.value)
            terms.append(f"u64(~{w.word(plain)}) + n64(1)")
        else:
            terms.append(f"u64({w.word(s, carry=extended)})")
    terms += [f"u64({w.predicate(c)})" for c in carries]
    lines = [f"t = {' + '.join(terms)}"]
    lines += w.store(one.destinations[0], "low32(t)", g)
    return lines + w.store(one.destinations[1], "t >> n64(32) != 0", g)


def _wide_store(w: Writer, one: Instruction, g: str, text: str) -> list[str]:
    target = one.destinations[0]
    return [f"t = {text}", *w.store(target, "low32(t)", g), *w.store(target, "high32(t)", g, 1)]


def _product(w: Writer, one: Instruction, g: str) -> list[str]:
    """IMAD in its forms; IMAD.MOV, .SHL, .IADD and .U32 are all a × b + c."""
    a, b, c = [s for s in one.sources if s.kind not in ("P", "UP")][:3]
    unsigned = "U32" in one.modifiers and "MOV" not in one.modifiers
    if "WIDE" in one.modifiers or "HI" in one.modifiers:
        cast = "u64({})" if unsigned else "u64(signed({}))"
        text = f"{cast.format(w.word(a))} * {cast.format(w.word(b))} + {w.pair(c)}"
        if "HI" in one.modifiers:
            return w.store(one.destinations[0], f"high32({text})", g)
        lines = _wide_store(w, one, g, text)
        if len(one.destinations) > 1:
            lines += w.store(one.destinations[1], f"t < {w.pair(c)}", g)
        return lines
    text = f"{w.word(a)} * {w.word(b)} + {w.word(c, carry='X' in one.modifiers)}"
    if "X" in one.modifiers:
        carry = [s for s in one.sources if s.kind in ("P", "UP")]
        text += "".join(f" + u32({w.predicate(p)})" for p in carry[:1])
    return w.store(one.destinations[0], text, g)


def _move(w: Writer, one: Instruction, g: str) -> list[str]:
    if "64" in one.modifiers:
        return _wide_store(w, one, g, w.pair(one.sources[0]))
    return w.store(one.destinations[0], w.word(one.sources[0]), g)


def _select(w: Writer, one: Instruction, g: str) -> list[str]:
    a, b, condition = one.sources[:3]
    if "64" in one.modifiers:
        return _wide_store(w, one, g, f"np.where({w.predicate(condition)}, {w.pair(a)}, {w.pair(b)})")
    return w.store(one.destinations[0], f"np.where({w.predicate(condition)}, {w.word(a)}, {w.word(b)})", g)


def _logic(w: Writer, one: Instruction, g: str) -> list[str]:
    words = [s for s in one.sources if s.kind not in ("P", "UP")]
    a, b, c, table = words[:4]
    lines = [f"t = lut3({w.word(a)}, {w.word(b)}, {w.word(c)}, {literal(table.value)})"]
    for target in one.destinations:
        lines += w.store(target, "t != 0" if target.kind in ("P", "UP") else "t", g)
    return lines


def _predicate_logic(w: Writer, one: Instruction, g: str) -> list[str]:
    a, b, c, first, second = one.sources[:5]
    inputs = f"{w.predicate(a)}, {w.predicate(b)}, {w.predicate(c)}"
    both = zip(one.destinations, (first, second), strict=False)
    made = [f"t{i} = lut3({inputs}, {literal(table.value)})" for i, (_, table) in enumerate(both)]
    for i, target in enumerate(one.destinations):
        made += w.store(target, f"t{i}", g)
    return made


def _compare(w: Writer, one: Instruction, g: str) -> list[str]:
    relation = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
    name = one.modifiers[0]
    words = [s for s in one.sources if s.kind not in ("P", "UP")]
    conditions = [s for s in one.sources if s.kind in ("P", "UP")]
    a, b = words[:2]
    cast = "{}" if "U32" in one.modifiers else "signed({})"
    if name == "T":
        text = "TRUE"
    elif name == "F":
        text = "~TRUE"
    else:
        left, right = cast.format(w.word(a)), cast.format(w.word(b))
        text = f"({left} {relation[name]} {right})"
        if "EX" in one.modifiers and len(conditions) > 1:
            strict = ">" if name in ("GE", "GT") else "<" if name in ("LE", "LT") else relation[name]
            carry = w.predicate(conditions[-1])
            joined = {"EQ": "&", "NE": "|"}.get(name)
            text = f"(({left} {strict} {right}) | (({left} == {right}) & {carry}))"
            text = f"({left} {relation[name]} {right}) {joined} {carry}" if joined else text
    word = {"AND": "&", "OR": "|", "XOR": "^"}[next(m for m in one.modifiers if m in ("AND", "OR", "XOR"))]
    other = w.predicate(conditions[0]) if conditions else "TRUE"
    lines = [f"t = {text}"]
    lines += w.store(one.destinations[0], f"t {word} {other}", g)
    return lines + w.store(one.destinations[1], f"~t {word} {other}", g)


def _shift(w: Writer, one: Instruction, g: str) -> list[str]:
    low, by, high = one.sources[:3]
    right, whole = one.modifiers[0] == "R", "HI" in one.modifiers
    signed_word = "S32" in one.modifiers
    if any("64" in m for m in one.modifiers):
        text = f"wide({w.word(low)}, {w.word(high)}) {'>>' if right else '<<'} u64({w.word(by)})"
        return w.store(one.destinations[0], f"{'high32' if whole else 'low32'}({text})", g)
    if right:
        function = "shift_right_signed" if signed_word else "shift_right"
        return w.store(one.destinations[0], f"{function}({w.word(high if whole else low)}, {w.word(by)})", g)
    return w.store(one.destinations[0], f"shift_left({w.word(high if whole else low)}, {w.word(by)})", g)


def _scaled_sum(w: Writer, one: Instruction, g: str) -> list[str]:
    """LEA: (a << shift) + b; LEA.HI: the high word of (c:a << shift), plus b; SX32: a is extended by its sign."""
    words = [s for s in one.sources if s.kind not in ("P", "UP")]
    carry = [s for s in one.sources if s.kind in ("P", "UP")]
    add = f" + u32({w.predicate(carry[0])})" if "X" in one.modifiers and carry else ""
    a, b = words[:2]
    shift = f"n64({literal(words[-1].value)})"
    if "HI" in one.modifiers:
        whole = f"u64(signed({w.word(a)}))" if "SX32" in one.modifiers else f"wide({w.word(a)}, {w.word(words[2])})"
        return w.store(one.destinations[0], f"high32({whole} << {shift}) + {w.word(b)}{add}", g)
    lines = [f"t = ((u64({w.word(a)}) << {shift}) & M32) + u64({w.word(b)})"]
    lines += w.store(one.destinations[0], "low32(t)" + add, g)
    for target in one.destinations[1:2]:
        lines += w.store(target, "t >> n64(32) != 0", g)
    return lines


def _extreme(w: Writer, one: Instruction, g: str) -> list[str]:
    words = [s for s in one.sources if s.kind not in ("P", "UP")]
    condition = one.sources[-1]
    first = f"({w.word(words[0])} + {w.word(words[1])})" if one.op == "VIADDMNMX" else w.word(words[0])
    second = w.word(words[2] if one.op == "VIADDMNMX" else words[1])
    cast = "{}" if "U32" in one.modifiers else "signed({})"
    a, b = cast.format(first), cast.format(second)
    text = f"low32(np.where({w.predicate(condition)}, np.minimum({a}, {b}), np.maximum({a}, {b})))"
    return w.store(one.destinations[0], text, g)


def _special(w: Writer, one: Instruction, g: str) -> list[str]:
    source = one.sources[0]
    if source.kind != "special":
        return []
    lines = w.store(one.destinations[0], f"special({str(source.value).replace('.', ' ')!r})", g)
    return lines + (w.store(one.destinations[0], "ZERO", g, 1) if one.width == 2 else [])


def _constant(w: Writer, one: Instruction, g: str) -> list[str]:
    source = one.sources[0]
    if source.kind != "const" or source.value[2] is not None:  # type: ignore[index]
        w.unknown.add(one.name)
        return []
    lines = []
    for plus in range(one.width):
        lines += w.store(one.destinations[0], w.word(source, plus), g, plus)
    return lines


def _halves(w: Writer, one: Instruction, g: str) -> list[str]:
    """HFMA2 of -RZ, RZ and two immediates, which ptxas uses to load a constant of 32 bits."""
    numbers = [s.value for s in one.sources if s.kind == "imm"]
    if len(numbers) != 2:
        return []
    first, second = (int(np.float16(number).view(np.uint16)) for number in numbers)  # type: ignore[arg-type]
    return w.store(one.destinations[0], f"K({first << 16 | second})", g)


def _packed(w: Writer, one: Instruction, g: str) -> list[str]:
    mask = literal(one.sources[-1].value)
    terms = [f"u32(P[{i}]) << n32({i})" for i in range(7) if mask >> i & 1]
    return w.store(one.destinations[0], " | ".join(terms) or "ZERO", g)


def _unpacked(w: Writer, one: Instruction, g: str) -> list[str]:
    mask = literal(one.sources[-1].value)
    source = w.word(next(s for s in one.sources if s.kind == "R"))
    return [f"put(P[{i}], ({source} >> n32({i}) & n32(1)) != 0, {g})" for i in range(7) if mask >> i & 1]


def _elected(w: Writer, one: Instruction, g: str) -> list[str]:
    return w.store(one.destinations[0], f"first_lane(full({g}))", g)


def _voted(w: Writer, one: Instruction, g: str) -> list[str]:
    source = w.predicate(next(s for s in one.sources if s.kind in ("P", "UP")))
    lanes = f"full({g})"
    mask = f"mask_of({lanes} & {source})"
    text = f"all_lanes(~{lanes} | {source})" if "ALL" in one.modifiers else f"any_lane({lanes} & {source})"
    lines = []
    for target in one.destinations:
        lines += w.store(target, text if target.kind in ("P", "UP") else mask, g)
    return lines


def _leading(w: Writer, one: Instruction, g: str) -> list[str]:
    return w.store(one.destinations[0], f"highest_bit({w.word(one.sources[0])})", g)


def _granted(w: Writer, one: Instruction, g: str) -> list[str]:
    """UTCATOMSWS, the allocation of tensor memory: it succeeds, and gives the columns from 0 on."""
    return [
        line for target in one.destinations for line in w.store(target, "TRUE" if target.kind == "UP" else "ZERO", g)
    ]


def _to_uniform(w: Writer, one: Instruction, g: str) -> list[str]:
    return w.store(one.destinations[0], f"of_first_lane({w.word(one.sources[-1])}, full({g}))", g)


def _shuffled(w: Writer, one: Instruction, g: str) -> list[str]:
    a, by = one.sources[:2]
    return w.store(one.destinations[-1], f"shuffle({w.word(a)}, {w.word(by)}, {one.modifiers[0]!r}, full(m))", g)


def _converted(w: Writer, one: Instruction, g: str) -> list[str]:
    source = w.word(one.sources[0])
    if one.op == "F2I":
        return w.store(one.destinations[0], f"truncated({source})", g)
    value = source if "U32" in one.modifiers else f"signed({source})"
    return w.store(one.destinations[0], f"{'float_above' if 'RP' in one.modifiers else 'float_near'}({value})", g)


def _true(w: Writer, one: Instruction, g: str) -> list[str]:
    """A wait that has succeeded: the time model decides when. An arrival gives a token, whose high word is `TOKEN`."""
    return [
        line
        for target in one.destinations
        for line in (w.store(target, "TRUE", g) if target.kind in ("P", "UP") else w.store(target, f"K({TOKEN})", g, 1))
    ]


_WRITERS: dict[str, Callable[[Writer, Instruction, str], list[str]]] = {
    **dict.fromkeys(("IADD3", "VIADD", "IADD", "IADD2"), _sum),
    **dict.fromkeys(("MOV", "MOV32I"), _move),
    **dict.fromkeys(("IMNMX", "VIMNMX", "VIADDMNMX"), _extreme),
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special),
    **dict.fromkeys(("LDC", "LDCU", "ULDC"), _constant),
    **dict.fromkeys(("HFMA2",), _halves),
    **dict.fromkeys(("VOTE", "VOTEU"), _voted),
    **dict.fromkeys(("I2F", "I2FP", "F2I"), _converted),
    **dict.fromkeys(("SYNCS", "USETMAXREG"), _true),
    "IMAD": _product,
    "SEL": _select,
    "LOP3": _logic,
    "PLOP3": _predicate_logic,
    "ISETP": _compare,
    "SHF": _shift,
    "LEA": _scaled_sum,
    "P2R": _packed,
    "R2P": _unpacked,
    "ELECT": _elected,
    "R2UR": _to_uniform,
    "REDUX": _to_uniform,  # of a value that all lanes share, as ptxas writes it behind tcgen05.dealloc
    "FLO": _leading,
    "UTCATOMSWS": _granted,
    "SHFL": _shuffled,
    "IABS": lambda w, one, g: w.store(one.destinations[0], f"low32(np.abs(signed({w.word(one.sources[0])})))", g),
    "MUFU": lambda w, one, g: w.store(one.destinations[0], f"reciprocal({w.word(one.sources[0])})", g),
    "PRMT": lambda w, one, g: w.store(
        one.destinations[0], f"permute({', '.join(w.word(source) for source in one.sources[:3])})", g
    ),
}
