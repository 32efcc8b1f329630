"""How wmma tiles reach memory: the model against the machine code that ptxas makes, on four architectures."""

from collections import Counter

import numpy as np
import pytest

from gemm_lab import compiling
from gpu_simulator import compiler
from gpu_simulator.hardware.wmma_access import ELEMENT_BYTES, SHAPES, access
from tools.recording import wmma_patterns

INSTRUCTIONS = [name for name, _ in wmma_patterns.instructions()]


def parts(instruction):
    """(action, matrix, layout, shape, kind, the PTX names the shared space)"""
    _, action, matrix, layout, shape, kind = instruction.removesuffix(".generic").split(".")
    return action, matrix, layout, shape, kind, not instruction.endswith(".generic")


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_120a"])
def test_ptxas_makes_the_instructions_of_the_model(arch):
    names = [name for name in INSTRUCTIONS if arch != "sm_75" or not {"bf16", "tf32"} & set(name.split("."))]
    compiled = compiling.compile(wmma_patterns.kernel_source(*names), arch=arch, name="tiles")
    found: dict[int, list[list[str]]] = {}
    for line in compiler.disassemble(compiled):
        if line.opcode.split(".")[0] in ("LDSM", "LDS", "STS", "LD", "ST"):
            found.setdefault((line.line - wmma_patterns.FIRST_LINE) // 2, []).append(line.opcode.split("."))
    assert set(found) == set(range(len(names)))
    for number, instruction in enumerate(names):
        _, matrix, layout, shape, kind, shared = parts(instruction)
        model, opcodes = access(matrix, shape, layout, kind, shared), found[number]
        if model.width == 16:
            assert {words[0] for words in opcodes} == {"LDSM"}, instruction
            assert sum(int(words[-1]) for words in opcodes) == len(model.line), instruction
        else:
            widths = {8 if "64" in words else 1 if "U8" in words else 4 for words in opcodes}
            assert "LDSM" not in opcodes[0] and widths == {model.width}, instruction
            assert len(opcodes) == len(model.line), instruction
        if arch != "sm_75":  # there ldmatrix comes in halves
            assert len(opcodes) == model.instructions, instruction


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_every_byte_of_the_tile_is_reached_once(instruction):
    _, matrix, layout, shape, kind, shared = parts(instruction)
    m, n, k = SHAPES[shape]
    rows, columns = {"a": (m, k), "b": (k, n)}.get(matrix, (m, n))
    lines, length = (rows, columns) if layout == "row" else (columns, rows)
    made, size = access(matrix, shape, layout, kind, shared), ELEMENT_BYTES[kind]
    reached = Counter(
        (line, byte + i)
        for line, byte in zip(made.line.ravel(), made.byte.ravel(), strict=True)
        for i in range(made.width)
    )
    assert set(reached.values()) == {1}
    assert set(reached) == {(line, byte) for line in range(lines) for byte in range(length * size)}


def test_a_row_of_lanes_is_a_row_of_the_fragment():
    made = access("c", "m16n16k16", "row", "f32", True)
    assert made.width == 8
    assert np.array_equal(made.line[0], np.arange(32) // 4) and np.array_equal(made.byte[0], np.arange(32) % 4 * 8)
