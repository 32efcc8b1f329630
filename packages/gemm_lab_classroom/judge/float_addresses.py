"""Refuses addresses that are computed with floating-point numbers.

A float32 holds whole numbers up to 2²⁴ exactly, and a matrix has more elements, so such an address is wrong at sizes
that are too large for the simulator.
"""

from __future__ import annotations

import re
from typing import Any

from gpu_simulator.codegen.program import program_of
from gpu_simulator.ptx.basic_blocks import reads_and_writes, registers_in
from gpu_simulator.ptx.ir import Memory

_FLOAT = re.compile(r"(?:bf|tf|f)\d+(?:x2)?|e\dm\d(?:x2)?")
_ARITHMETIC = {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "cvt"}
_LOADS = {"ld", "ldu", "atom", "ldmatrix", "wmma", "mma"}  # what they give is followed by `value_dependence`


def address_in_floats(compiled: Any) -> str:
    """A sentence about the first address that depends on floating-point arithmetic; "" if there is none."""
    program = program_of(compiled.ptx, compiled.entry)
    items = [item for block in program.blocks for item in block.instructions]
    tainted: set = set()
    size = -1
    while size != len(tainted):
        size = len(tainted)
        for item in items:
            if item.family in _LOADS or item.family.startswith(("tcgen05", "wgmma")):
                continue
            reads, writes = reads_and_writes(item)
            computes = item.family in _ARITHMETIC and any(_FLOAT.fullmatch(part) for part in item.parts)
            if computes or not tainted.isdisjoint(reads):
                tainted.update(writes)
    for item in items:
        places = [operand for operand in item.operands if type(operand) is Memory]
        if any(not tainted.isdisjoint(registers_in(place)) for place in places):
            place = item.location
            where = f"Line {place.line}: an" if place and place.file == "cell" else "An"
            return (
                f"{where} address is computed with floating-point numbers. Those of 32 bits hold whole numbers up to "
                "2²⁴ = 16,777,216 exactly, and a matrix has more elements; compute it with whole numbers, as with "
                "size_t(row) * N."
            )
    return ""
