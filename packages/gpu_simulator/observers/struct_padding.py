"""Copies of structs: their padding, which nobody writes, is read with the members."""

from __future__ import annotations

import numpy as np

from gpu_simulator.ptx.basic_blocks import reads_and_writes, registers_in
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.ir import Instruction


def may_copy_padding(program, site: int) -> bool:
    """Whether what the load of this number reads is only stored elsewhere, as a struct is copied with its padding.

    A compiler copies padding in pieces of at most four bytes that are no floats.
    """
    load = program.sites[site]
    if load.family != "ld" or BYTES[load.parts[-1]] > 4 or load.parts[-1][0] == "f":
        return False
    values = set(registers_in(load.operands[0]))
    readers = [item for item in program.sites if not values.isdisjoint(reads_and_writes(item)[0])]
    return all(item.family == "st" and values.isdisjoint(registers_in(item.operands[0])) for item in readers)


def is_padding(program, site: int, written: np.ndarray) -> bool:
    """Whether the bytes that nobody wrote can be padding: each lane reads a member with them, or in the same line.

    written: (lanes, cells) of the last writes, 0 for none.
    """
    load = program.sites[site]
    return bool(written.any(1).all()) or (BYTES[load.parts[-1]] == 1 and _behind_a_member(program, load))


def _behind_a_member(program, load: Instruction) -> bool:
    """Whether the same line loads what is in front of this, from the same base."""
    base, offset = load.operands[1].base, load.operands[1].offset
    return any(
        item.family == "ld"
        and item.location == load.location
        and item.operands[1].base == base
        and item.operands[1].offset < offset
        for item in program.sites
    )
