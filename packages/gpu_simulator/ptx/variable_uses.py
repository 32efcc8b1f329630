"""Which instructions load a module's variables, and which variables a kernel may write: the addresses are followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpu_simulator.ptx.basic_blocks import reads_and_writes, registers_in
from gpu_simulator.ptx.ir import Group, Instruction, Memory, Symbol, Vector

_LOADS = {"ld", "ldu"}
_HARMLESS = {"prefetch", "prefetchu", "setp", "set", "bra", "isspacep"}
_TO_MEMORY = {"st", "atom", "red", "cp", "call", "tcgen05", "mbarrier", "multimem", "wmma", "ldmatrix", "stmatrix"}


@dataclass
class Uses:
    """loads: of the variable.   written: whether it may be written, or its address goes where it is not followed."""

    loads: list[Instruction] = field(default_factory=list)
    written: bool = False


def variable_uses(code: list[Instruction]) -> dict[str, Uses]:
    """The uses of each variable in global or constant memory, by its name in the PTX."""
    uses: dict[str, Uses] = {}
    holds: dict[int, set[str]] = {}  # by register, the variables whose address it may hold
    changed = True
    while changed:
        changed = False
        for item in code:
            if item.family in _TO_MEMORY or item.family in _LOADS or item.family in _HARMLESS:
                continue
            reads, writes = reads_and_writes(item)
            named = {name for operand in item.operands[1:] for name in _named(operand)}.union(
                *(holds[number] for number in reads if number in holds)
            )
            for number in writes if named else ():
                known = holds.setdefault(number, set())
                changed |= not named <= known
                known |= named
    for item in code:
        for number, operand in enumerate(item.operands):
            names = {*_named(operand), *(name for r in registers_in(operand) for name in holds.get(r, ()))}
            for name in names:
                use = uses.setdefault(name, Uses())
                copies = item.family == "cp" and "bulk" not in item.parts and number == 1
                if (item.family in _LOADS or copies) and type(operand) is Memory:
                    use.loads.append(item)
                elif item.family in _TO_MEMORY:
                    use.written = True
    return uses


def _named(operand: object) -> Iterator[str]:
    if type(operand) is Symbol:
        if operand.variable is not None and operand.variable.space in ("global", "const"):
            yield operand.variable.name
    elif type(operand) is Memory:
        yield from _named(operand.base)
    elif type(operand) in (Vector, Group):
        for item in operand.items:  # type: ignore[attr-defined]
            yield from _named(item)
