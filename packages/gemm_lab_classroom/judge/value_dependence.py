"""Refuses answers whose branches, addresses or choices depend on the values of A, B and C.

In a matrix product every product of elements is added, whatever their values are. An answer that compares a value can
be wrong for some values alone, and no number of trials finds them; but the instruction that compares is in the code.
So the values that a kernel loads are followed through its PTX: they may be moved, packed, converted between
floating-point types, exchanged within a warp, multiplied, added and stored. Anything else that takes such a value is
refused, unless the rung's own text has the same instruction for the same purpose. The same holds for alpha and beta,
which may also be compared with 0 and 1. A store into a variable that outlives the launch is refused too, since an
answer that depends on it is right at the first launch alone; and so are a store into an array that the rung only reads,
and what relates the places of two arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

from gemm_lab_classroom.judge.loaded_values import (
    ALL_BITS,
    FLOATS,
    Flow,
    asks_for_0_or_1,
    bits_of_operand,
    constant,
    flow_of,
    sources,
)
from gpu_simulator.compiler import Compiled
from gpu_simulator.ptx.basic_blocks import registers_in
from gpu_simulator.ptx.inlining import flatten
from gpu_simulator.ptx.ir import Instruction, Location, Memory, Register, Vector
from gpu_simulator.ptx.parser import parse

LEARNERS = "cell"  # the name that the text of an answer has in diagnostics
# Modifiers that do not change what an instruction is for: rounding and flushing of subnormal numbers.
_ROUNDING = {"rn", "rz", "rm", "rp", "rna", "ftz", "approx", "full"}
_COMPARES = {"setp", "set", "testp", "min", "max", "match", "vote", "redux"}


class Use(NamedTuple):
    """A use of a loaded value for something else than arithmetic, or of a register that was never written.

    kind: the opcode without its rounding.   role: "guard", "choice", "address", "value" or "unwritten"; "scale" for any
    use of alpha or beta, "kept" for a store that outlives the launch, "stored" for a store into an array of the caller
    (then `kind` is the array's parameter), and "between" for pointers to two arrays.
    """

    kind: str
    role: str
    opcode: str
    location: Location | None


def depends_on_values(answer: Any, compiled: Compiled, region: str) -> str:
    """A sentence about the first use of a loaded value that the rung's own text does not have; "" if there is none.

    answer: the learner's kernel, and `compiled` the same compiled.   region: the name of the exercise's region.
    """
    rung = answer.unedited()
    own, lines = rung.compile(compiled.arch), rung.spec.regions[region]
    place = (rung.spec.file, lines.first_line, lines.last_line)
    found = foreign_use(compiled.ptx, compiled.entry, own.ptx, own.entry, place)
    return said(found) if found else ""


def foreign_use(ptx: str, entry: str, own_ptx: str, own_entry: str, place: tuple[str, int, int]) -> Use | None:
    """The first use of a loaded value in the kernel `entry` that the rung's own PTX does not have; None if none.

    place: the file, first and last line of the exercise's region in the rung. If the rung rounds loaded numbers there,
    the answer may round them by hand, for which it has to compare them.
    """
    own = {(use.kind, use.role) for use in uses(own_ptx, own_entry)}
    foreign = [use for use in uses(ptx, entry, LEARNERS) if (use.kind, use.role) not in own]
    if foreign and _rounds(own_ptx, own_entry, place):
        foreign = [use for use in foreign if use.role not in ("guard", "choice", "value")]
    return foreign[0] if foreign else None


def said(use: Use) -> str:
    """The refusal of a use, with the learner's line."""
    where = line_of(use.location.frames if use.location else ())
    if use.role == "unwritten":
        return (
            f"{where}: {use.opcode} depends on a variable to which nothing was ever assigned. Its value is what the "
            "register happens to hold, so the result may differ from launch to launch: give the variable a value."
        )
    if use.role == "kept":
        return (
            f"{where}: {use.opcode} writes a variable that keeps its value until the next launch, so that the kernel "
            "may give another result then. Let the variable belong to one launch: leave out static and __device__."
        )
    if use.role == "stored":
        return (
            f"{where}: {use.opcode} writes into an array that the kernel only reads. Its caller goes on to use A, B "
            "and C, and other blocks read them at the same time: write into D alone."
        )
    if use.role == "between":
        return (
            f"{where}: {use.opcode} subtracts or compares pointers to two arrays. They may lie anywhere in memory, "
            "more than 2³¹ elements apart, or be the same array: let the result depend on neither."
        )
    if use.role == "scale":
        return (
            f"{where}: {use.opcode} takes alpha or beta, or what was computed from them, and does more with it than "
            "multiply, add, round or move it. Both may be any numbers; only a comparison with 0 or 1 has a reason."
        )
    what = {
        "guard": "is executed only for some of the values that may be loaded from memory",
        "choice": "selects by a value that was loaded from memory",
        "address": "takes its address from a value that was loaded from memory",
        "value": (
            "compares a value that was loaded from memory"
            if use.kind.split(".")[0] in _COMPARES
            else "takes a value that was loaded from memory, and does more with it than multiply, add, round or move it"
        ),
    }[use.role]
    return (
        f"{where}: {use.opcode} {what}. Which products a thread adds must not depend on the values of A, B and C: "
        "an answer that leaves some of them out is wrong for those values."
    )


def line_of(frames: Sequence[tuple[str | None, int]]) -> str:
    """The learner's line, or else the outermost one, among the lines of an instruction from the innermost call on."""
    file, line = next((frame for frame in frames if frame[0] == LEARNERS), frames[-1] if frames else (None, 0))
    return f"{file}, line {line}" if file else "in the kernel"


@lru_cache(maxsize=64)
def uses(ptx: str, entry: str, file: str = "") -> tuple[Use, ...]:
    """All uses of loaded values in a kernel that are more than arithmetic, in the order of its instructions.

    file: see `flow_of`.
    """
    flat = flatten(parse(ptx), entry)
    flow = flow_of(flat, file)
    found = [Use(_kind(item, "kept"), "kept", item.opcode, item.location) for item in flow.kept]
    for item, loaded, unwritten in flow.steps:
        if loaded:
            found += [Use(_kind(item, role), role, item.opcode, item.location) for role in _roles(item, loaded, flow)]
        if unwritten and item.family in ("setp", "set", "testp"):
            found.append(Use(_kind(item, "unwritten"), "unwritten", item.opcode, item.location))
    found += [Use(_kind(item, "between"), "between", item.opcode, item.location) for item in flow.between]
    found += [Use(name, "stored", item.opcode, item.location) for item, name in flow.stores]
    scales = flow_of(flat, file, scales=True)
    for item, scaled, _ in scales.steps:
        if scaled and not asks_for_0_or_1(item) and any(_roles(item, scaled, scales)):
            found.append(Use(_kind(item, "scale"), "scale", item.opcode, item.location))
    return tuple(found)


def _kind(item: Instruction, role: str) -> str:
    return "" if role == "guard" else ".".join(part for part in item.parts if part not in _ROUNDING)


def _roles(item: Instruction, loaded: Set[int], flow: Flow) -> Iterator[str]:
    """Yields for what, other than arithmetic, an instruction uses loaded values."""
    if item.guard is not None and _any(item.guard, loaded):
        yield "guard"
    operands = sources(item)
    if any(type(operand) is Memory and _any(operand, loaded) for operand in operands):
        yield "address"
    given = [operand for operand in operands if type(operand) is not Memory]
    depend = [_any(operand, loaded) for operand in given]
    if item.family in ("selp", "slct") and depend[2]:
        yield "choice"
    elif any(depend) and not _allowed(item, given, depend, flow):
        yield "value"


def _any(operand: Any, loaded: Set[int]) -> bool:
    return any(register in loaded for register in registers_in(operand))


def _allowed(item: Instruction, given: list, loaded: list[bool], flow: Flow) -> bool:
    """Whether an instruction only moves, packs, rounds, multiplies or adds the loaded values among its operands."""
    family, parts = item.family, set(item.parts)
    kind = item.parts[-1]
    if parts & {"sat", "satfinite", "relu"}:
        return False
    if family in ("mov", "param", "not", "st", "stmatrix", "red", "mma", "movmatrix", "selp", "slct"):
        return "pred" not in parts
    if family == "wmma":
        return True
    if family == "wgmma":  # A and the accumulators are vectors; descriptors are not
        return all(type(operand) is Vector for operand, one in zip(given, loaded, strict=True) if one)
    if family == "tcgen05":
        return "st" in parts
    if family in ("add", "sub", "mul", "fma", "mad", "neg") and parts & FLOATS:
        return True
    if family == "cvt":
        types = [part for part in item.parts[1:] if part in FLOATS or part[1:].isdigit()]
        return len({part in FLOATS for part in types[:2]}) == 1 and not parts & {"rni", "rzi", "rmi", "rpi"}
    if kind == "pred":
        return False
    if family in ("and", "or", "xor", "lop3") and not _keeps_halves(given[:3]):
        return False
    if family in ("or", "xor", "add"):  # packing: no bit comes from two values
        first, second = given[:2]
        disjoint = bits_of_operand(first, flow) & bits_of_operand(second, flow) == 0
        return disjoint or (family != "add" and not all(loaded[:2]))
    if family == "and" or family == "lop3":
        return sum(loaded) == 1
    if family in ("shl", "shr"):
        return not loaded[1]
    if family in ("prmt", "shf"):
        return not loaded[2]
    if family in ("bfe", "bfi"):
        return not any(loaded[1 if family == "bfe" else 2 :])
    if family == "shfl":
        return not any(loaded[1:])
    return False


def _keeps_halves(given: list) -> bool:
    """Whether the constants of a bitwise operation take or leave 16 bits at a time, or are signs.

    Other masks set, clear or flip some bits of a value, which no product of matrices needs.
    """
    values = [value & ALL_BITS for operand in given if (value := constant(operand)) is not None]
    return {value >> shift & 0xFFFF for value in values for shift in (0, 16, 32, 48)} <= {0, 0x8000, 0xFFFF}


def _rounds(ptx: str, entry: str, region: tuple[str, int, int]) -> bool:
    """Whether a kernel rounds numbers right after it has loaded them, in these lines."""
    flat = flatten(parse(ptx), entry)
    code = [item for item in flat.body if isinstance(item, Instruction)]
    plain: set[int] = set()
    for item in code:
        if item.family == "ld" and "param" not in item.parts:
            plain.update(registers_in(item.operands[0]))
    file, first, last = region
    for item in code:
        if (
            item.family != "cvt"
            or not {"f32"} & set(item.parts)
            or not {"bf16", "bf16x2", "f16", "f16x2"} & set(item.parts)
        ):
            continue
        frames = item.location.frames if item.location else ()
        if any(frame[0] == file and first <= frame[1] <= last for frame in frames) and any(
            type(operand) is Register and operand.index in plain for operand in item.operands[1:]
        ):
            return True
    return False
