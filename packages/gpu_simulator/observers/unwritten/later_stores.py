"""Whether the store that a read of shared memory misses is made by other lanes of its warp, which come later."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_simulator.ptx.ir import Memory, Symbol


def later_store(resident: Any, lanes: np.ndarray, lane: int, at: int) -> str:
    """Which store writes later a byte that is read before, in words; "" if there is none.

    lane: the reader, among the resident blocks, one of the `lanes` that read together.   at: the byte, in its block.
    """
    program, warp = resident.program, lane // 32 * 32
    here = set(lanes.reshape(-1).tolist())
    places = [int(resident.pc[other]) for other in range(warp, warp + 32) if other not in here]
    to_come, stack = set(), [place for place in places if 0 <= place < len(program.blocks)]
    while stack:
        place = stack.pop()
        if place not in to_come:
            to_come.add(place)
            stack += program.blocks[place].targets
    for place in sorted(to_come):
        for item in program.blocks[place].code:
            if item.family in ("st", "atom", "red") and _covers(program, item, at):
                return f"another lane of its warp writes at {resident.describe(item.site)}, but has not yet"
    return ""


def _covers(program: Any, item: Any, at: int) -> bool:
    """Whether an instruction accesses, by its name, the variable of shared memory in which a byte lies."""
    memory = next((operand for operand in item.operands if type(operand) is Memory), None)
    if memory is None or type(memory.base) is not Symbol or memory.base.variable is None:
        return False
    variable = memory.base.variable
    return variable.space == "shared" and 0 <= at - program.address(variable) < variable.size
