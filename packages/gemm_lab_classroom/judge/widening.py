"""Records how large the 32-bit numbers become that a kernel extends to 64 bits, as it does to compute addresses.

A number is extended by a conversion (also one from a 32-bit float), by a wide multiplication, by a zero that is put
beside it, or by a shift or a mask that leaves only 32 of 64 bits.

A kernel that computes an offset in 32 bits is right for small arrays, and wrong where the offset needs more bits. The
values of small launches show how the offset grows, without arrays that are large enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpu_simulator.codegen.program import program_of
from gpu_simulator.effort import Effort
from gpu_simulator.launching import Extent, run_block
from gpu_simulator.machine.observer import Observer
from gpu_simulator.ptx.ir import Immediate, Instruction, Register, Vector
from gpu_simulator.ptx.types import immediate

_LOW = 0xFFFF_FFFF  # the lower 32 of 64 bits


class Widening(NamedTuple):
    """An instruction that extends 32 bits to 64: its PTX line, whether it takes them as signed, and where it stands.

    file, line: of the source, those of the outermost call if it was inlined; (None, 0) if they are not known.
    """

    ptx_line: int
    signed: bool
    file: str | None
    line: int


def widened(
    compiled: Any,
    grid: Extent,
    block: Extent,
    args: Sequence[Any],
    number: int,
    cluster: Extent = 1,
    max_instructions: int | None = None,
    max_steps: int | None = None,
) -> dict[Widening, int]:
    """Run one block, with the other blocks of its cluster; returns the largest magnitude that each widening has taken.

    compiled, grid, block, args, cluster and the limits: as for `launch`; the arrays of `args` are not changed.
    number: of the block in the grid. Instructions that were not executed are left out. Raises what `launch` raises.
    """
    program = program_of(compiled.ptx, compiled.entry)
    zeros, raised = _written_only(program.sites, _is_zero), _written_only(program.sites, _raises)
    sources = {site: found for site, item in enumerate(program.sites) if (found := _sources(item, zeros, raised))}
    largest: dict[Widening, int] = {}
    effort = Effort(max_instructions, max_steps, None)

    def observer_of(resident):
        return _Sizes(resident, sources, largest)

    run_block(program, compiled, grid, block, args, cluster, number, frozenset(sources), observer_of, effort)
    return largest


def _written_only(sites: Sequence[Instruction], by: Callable[[Instruction], bool]) -> set[int]:
    """The numbers of the registers that only instructions of one sort write."""
    these, others = set(), set()
    for item in sites:
        written = item.operands[0] if item.operands else None
        if type(written) is Register:
            (these if item.guard is None and by(item) else others).add(written.index)
    return these - others


def _is_zero(item: Instruction) -> bool:
    value = item.operands[1] if item.family == "mov" and len(item.operands) > 1 else None
    return type(value) is Immediate and value.text.strip("-+0xXuU") == ""


def _raises(item: Instruction) -> bool:
    """Whether an instruction shifts about half of 64 bits out; a shift back then extends the rest."""
    return item.opcode == "shl.b64" and _amount(item) in range(28, 37)


def _amount(item: Instruction) -> int:
    """The last operand of an instruction, if it is a constant; -1 if it is not."""
    last = item.operands[-1]
    return int(immediate(last.text, "u64")) if type(last) is Immediate else -1


def _lowest(mask: int) -> int:
    """The number of zeros below the ones of a mask of 32 ones in a row; -1 for any other mask."""
    below = (mask & -mask).bit_length() - 1
    return below if mask == _LOW << below else -1


def _sources(item: Instruction, zeros: set[int], raised: set[int]) -> list[Register]:
    """The registers of which an instruction extends 32 bits to 64; [] for any other instruction.

    zeros: the registers that hold 0.   raised: those that hold what `_raises` has shifted.
    """
    parts = item.opcode.split(".")
    if parts[0] == "cvt" and parts[-2:] in (["s64", "s32"], ["u64", "u32"], ["s64", "f32"], ["u64", "f32"]):
        taken = item.operands[1:2]
    elif parts[0] == "mov" and parts[-1] in ("b64", "u64", "s64") and type(item.operands[1]) is Vector:
        low, *high = item.operands[1].items
        taken = [low] if all(type(one) is Register and one.index in zeros for one in high) else []
    elif parts[0] in ("mul", "mad") and "wide" in parts and parts[-1] in ("s32", "u32"):
        taken = item.operands[1:3]
    elif item.opcode in ("shr.s64", "shr.u64", "shr.b64"):
        taken = [one for one in item.operands[1:2] if type(one) is Register and one.index in raised]
    elif item.opcode == "and.b64" and _lowest(_amount(item)) in range(5):
        taken = item.operands[1:2]
    else:
        return []
    return [operand for operand in taken if type(operand) is Register]


class _Sizes(Observer):
    """Keeps the largest magnitude of each widening. sources: by site, the registers that it extends."""

    def __init__(self, resident, sources: dict[int, list[Register]], largest: dict[Widening, int]):
        super().__init__(resident)
        self.sources, self.largest = sources, largest

    def stopped(self, lanes, site: int, values: dict, after: bool) -> None:
        if after:
            return
        item, active = self.resident.program.sites[site], self.executing(lanes, site, values)
        if not active.any():
            return
        file, line = item.location.frames[-1] if item.location else (None, 0)
        key = Widening(item.line, item.opcode.endswith("s32") or item.opcode == "shr.s64", file, line)
        for register in self.sources[site]:
            held = self.value_of(lanes, register, values)[active]
            if item.family == "shr":
                held = held.view(np.int64 if key.signed else np.uint64) >> 32
            elif item.family == "and":
                held = held.view(np.uint64) >> np.uint64(_lowest(_amount(item))) & np.uint64(_LOW)
            elif held.dtype.kind != "f":
                held = held.astype(np.uint32).view(np.int32 if key.signed else np.uint32).astype(np.int64)
            most = float(np.abs(held).max())
            if most < np.inf:  # no NaN, no infinity
                self.largest[key] = max(self.largest.get(key, 0), int(most))
