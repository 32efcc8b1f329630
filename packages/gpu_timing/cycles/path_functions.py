"""Turns basic blocks of machine code into functions that follow them: only what decides addresses and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_simulator.allow_list import Language, function_of
from gpu_timing.cycles import word_functions
from gpu_timing.cycles.integer_ops import Writer
from gpu_timing.cycles.machine_code import Instruction
from gpu_timing.cycles.pipes import TCGEN05_KINDS

SHARED = frozenset(("LDS", "STS", "LDSM", "STSM", "LDGSTS", "ATOMS"))
GLOBAL = frozenset(("LDG", "STG", "LDGSTS", "LD", "ST", "LDL", "STL", "RED", "ATOMG", "ATOM"))
# Results of these are data: no address and no condition.
DATA = {
    "HMMA", "IMMA", "HGMMA", "QGMMA", "QMMA", "FFMA", "FMUL", "FADD", "HADD2", "F2FP", "F2F", "LDSM", "LDTM", "LDS",
    "LDG", "LD", "MOVM",
}  # fmt: skip
UNITS = frozenset(("SYNCS", "UTMALDG", "UTMASTG", "BAR", "UBLKCP", "UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCBAR"))
RECORDED = SHARED | GLOBAL | UNITS
ENDS = frozenset(("BRA", "EXIT", "CALL", "RET", "BRX", "JMP"))


# ---- Which instructions decide where the kernel goes ----


def names_of(operands: Sequence[Any], width: int) -> set[tuple[str, int]]:
    """The registers of some operands, each of `width` registers, by (kind, number)."""
    found = set()
    for operand in operands:
        if operand.kind in ("R", "UR"):
            found |= {(operand.kind, operand.value + i) for i in range(width) if operand.value is not None}
        elif operand.kind in ("P", "UP") and operand.value != 7:
            found.add((operand.kind, operand.value))
        elif operand.kind == "address":
            for kind, number, is_wide in operand.value[0]:
                found |= {(kind, number + i) for i in range(max(width, 2 if is_wide else 1))}
    return found


def stored_bytes(one: Instruction) -> int:
    """Bytes that a lane stores."""
    return 16 if "128" in one.modifiers else 8 if "64" in one.modifiers else 4


def spilled(one: Instruction) -> list[tuple[str, int]]:
    """The words of the stack that a spill (STL) writes or a refill (LDL) reads, as names of registers."""
    address = next((s for s in one.sources if s.kind == "address"), None)
    if one.op not in ("STL", "LDL") or address is None or address.value[0] != (("R", 1, False),):
        return []
    words = max(one.width, stored_bytes(one) // 4)
    return [("L", int(address.value[2]) + 4 * i) for i in range(words)]


def reads_of(one: Instruction) -> set[tuple[str, int]]:
    """The registers, predicates and words of the stack that an instruction reads, its guard among them."""
    if places := spilled(one):
        values = [s for s in one.sources if s.kind == "R"]
        return _guard(one) | (set(places) if one.op == "LDL" else names_of(values, len(places)))
    if one.op in ("IMAD", "UIMAD"):  # of a wide product, the summand alone is a pair
        pair = not {"WIDE", "HI"}.isdisjoint(one.modifiers)
        words = [s for s in one.sources if s.kind not in ("P", "UP")]
        return names_of(one.sources, 1) | names_of(words[2:], 1 + pair) | _guard(one)
    pair = any("64" in m for m in one.modifiers) and one.op not in ("SHF", "USHF")
    return names_of(one.sources, 1 + pair) | _guard(one)


def _guard(one: Instruction) -> set[tuple[str, int]]:
    return {(one.guard[0], one.guard[1])} - {("P", 7), ("UP", 7)} if one.guard else set()


def needed_of(code: Sequence[Instruction]) -> frozenset[int]:
    """Indices of the instructions on whose results an address, a branch or a guard may depend."""
    wanted: set[tuple[str, int]] = set()
    for one in code:
        if one.op in RECORDED:
            # Of a store, the address and not the value; of an mbarrier, the address and the count.
            keep = one.sources if one.op in UNITS else [s for s in one.sources if s.kind == "address"]
            wanted |= names_of(keep, 4 if one.op in ("UTMALDG", "UTMASTG") else 1) | _guard(one)
        elif one.op in ENDS:
            wanted |= names_of(one.sources, 1) | _guard(one)
    writers: dict[tuple[str, int], list[Instruction]] = {}
    for one in code:
        if one.op not in DATA:
            places = spilled(one)
            if one.op == "LDL" and not places:
                continue  # an element of an array: data, as what other loads bring
            for name in places if one.op == "STL" else names_of(one.destinations, one.width):
                writers.setdefault(name, []).append(one)
    chosen: set[int] = set()
    todo = list(wanted)
    seen = set(todo)
    while todo:
        for one in writers.get(todo.pop(), ()):
            if one.index not in chosen:
                chosen.add(one.index)
                fresh = reads_of(one) - seen
                seen |= fresh
                todo += fresh
    return frozenset(chosen)


def block_function(code: Sequence[Instruction], writer: Writer, needed: frozenset[int]) -> Callable[..., Any]:
    """The function of a basic block: executes it for the lanes `m`, and returns the lanes that jump."""
    lines = []
    for one in code:
        if one.op in RECORDED:
            lines.append(f"g = {writer.guard(one)}")
            address = next((s for s in one.sources if s.kind == "address"), None)
            lines.append(f"record({one.index}, {_address(address, writer)}, g, {_extra(one, writer)})")
            if one.index in needed and spilled(one):
                lines += _spill(one, writer)
        if one.op in ("BRA", "CALL", "EXIT"):
            lines.append(f"taken = full({writer.guard(one)})")
            for source in one.sources:
                if source.kind in ("P", "UP"):
                    lines.append(f"taken = taken & {writer.predicate(source)}")
            if "DIV" in one.modifiers:  # only for a warp of which some lanes are elsewhere
                lines.append("taken = taken & ~all_lanes(full(m))")
        elif one.index in needed and spilled(one):
            lines += _spill(one, writer)
        elif one.index in needed:
            made = writer.lines(one)
            if made and one.guard and one.op not in RECORDED:
                lines.append(f"g = {writer.guard(one)}")
            lines += made
    ended = code[-1].op in ("BRA", "CALL", "EXIT")
    text = "".join(f"    {line}\n" for line in [*lines, "return taken" if ended else "return None"])
    return function_of(PATHS.head + text, "<machine code>", dict(_SCOPE), PATHS)


def _spill(one: Instruction, writer: Writer) -> list[str]:
    """Lines that move words between registers and the stack; `g` are the lanes."""
    lines = []
    for i, (_, place) in enumerate(spilled(one)):
        if one.op == "LDL":
            lines += writer.store(one.destinations[0], f"stack({place})", "g", i)
        else:
            value = next(s for s in one.sources if s.kind == "R")
            lines.append(f"put(stack({place}), {writer.word(value, i)}, g)")
    return lines


def _address(operand: Any, writer: Writer) -> str:
    if operand is None:
        return "None"
    registers, _, offset = operand.value
    terms = []
    for kind, number, is_wide in registers:
        bank = "R" if kind == "R" else "U"
        terms.append(f"wide({bank}[{number}], {bank}[{number + 1}])" if is_wide else f"u64({bank}[{number}])")
    if not terms:
        return f"u64(K({offset & 0xFFFFFFFF}))"
    return " + ".join(terms) + (f" + n64({offset & (1 << 64) - 1})" if offset else "")


def _extra(one: Instruction, writer: Writer) -> str:
    """What else a record needs: the source of a copy, the count of an mbarrier, the number of a barrier."""
    addresses = [s for s in one.sources if s.kind == "address"]
    if one.op == "LDGSTS" or (one.op in ("UTMALDG", "UTMASTG") and len(addresses) > 1):
        second = addresses[1].value[0][0] if one.op != "LDGSTS" else None
        if second is not None:
            first = addresses[0].value[0][0][1]
            words = ", ".join(f"U[{first + i}]" for i in range(4))
            return f"(wide(U[{second[1]}], U[{second[1] + 1}]), {words})"
        return _address(addresses[1], writer)
    if one.op == "SYNCS":
        words = [s for s in one.sources if s.kind in ("R", "UR", "imm")]
        return writer.word(words[0]) if words else "None"
    if one.op in TCGEN05_KINDS:
        register = addresses[-1].value[0][0][1]  # of the instruction descriptor
        return f"U[{register}]"
    if one.op == "BAR":
        words = [s for s in one.sources if s.kind in ("R", "UR", "imm")]
        return "(" + "".join(writer.word(word) + ", " for word in words) + ")"
    return "None"


def _put(target: np.ndarray, value: np.ndarray, where: np.ndarray) -> None:
    np.copyto(target, value, where=where)


def _put_uniform(target: np.ndarray, value: np.ndarray, lanes: np.ndarray) -> None:
    lanes = np.broadcast_to(lanes, (len(target), 32))
    if value.shape[-1] != 1:
        value = word_functions.of_first_lane(value, lanes)
    np.copyto(target, value, where=lanes.any(1, keepdims=True))


# What a generated line may contain beside the names of `_SCOPE`.
_WORDS = ("m", "record", "special", "g", "t", "taken", "return", "None", ".where", ".abs", ".minimum", ".maximum")
PATHS = Language("def block(m, record, special):\n", frozenset(_WORDS))
_SCOPE: dict[str, Any] = {
    "__builtins__": {},
    **dict.fromkeys(("R", "U", "P", "V", "K", "ZERO", "TRUE", "stack", "full")),  # the state of a walk
    "np": np,
    "put": _put,
    "put_uniform": _put_uniform,
    "M32": np.uint64(0xFFFFFFFF),
    "n32": np.uint32,
    "n64": np.uint64,
    **{name: getattr(word_functions, name) for name in dir(word_functions) if not name.startswith("_")},
}
