"""Finds loads whose value a selection discards in some lanes: `n = t == 0 ? s[3] : 0` becomes an ld and a selp.

The source reads in the other lanes only; what is loaded where it is discarded changes nothing, and is no race.
"""

from __future__ import annotations

from gpu_simulator.ptx.basic_blocks import reads_and_writes
from gpu_simulator.ptx.ir import Instruction, Register

_STRONG = {"volatile", "relaxed", "acquire", "mmio"}  # such a load may order others
# What only computes a value of its own lane, and may stand between the load and the selection.
_COMPUTE = "add", "sub", "mul", "mad", "fma", "mov", "cvt", "and", "or", "xor", "not", "shl", "shr", "neg", "abs"


def selection_of(program, code: list[Instruction], load: Instruction) -> tuple[Register, bool] | None:
    """(predicate, whether the value is kept where it is true) of the one selection that a loaded value reaches.

    code: the block of the load. None unless every use of the value goes through this selp of the same block, and the
    predicate has the same value at the load as there.
    """
    register, changed = load.operands[0], set()
    if load.guard is not None or type(register) is not Register or not _STRONG.isdisjoint(load.parts):
        return None
    for item in code[code.index(load) + 1 :]:
        reads, writes = reads_and_writes(item)
        if register.index not in reads:
            changed.update(writes)
            continue
        if item.guard is not None or program.readers[register.index] != {item.site}:
            return None
        if item.family == "selp":
            sides = [type(o) is Register and o.index == register.index for o in item.operands[1:3]]
            predicate = item.operands[3]
            if type(predicate) is not Register or predicate.index in changed or sum(sides) != 1:
                return None
            return predicate, sides[0]
        if item.family not in _COMPUTE or type(item.operands[0]) is not Register:
            return None
        register = item.operands[0]
        changed.update(writes)
    return None
