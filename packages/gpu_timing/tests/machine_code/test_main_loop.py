"""The main loop in machine code, for architectures that are not here."""

import compiling
import pytest

from gpu_simulator import compiler
from gpu_simulator.compiler.disassembly import SassLine
from gpu_timing.machine_code.main_loop import macs, main_loop

LOOP = """extern "C" __global__ void gemm(float* p, int n) {
  for (int i = 0; i < n; i++) p[i * n + threadIdx.x] *= 2.0f;
}"""


def code(*texts):
    """Lines 0x10 apart; "BRA 20" jumps to address 0x20."""
    lines = []
    for index, text in enumerate(texts):
        words = text.split()
        target = int(words[-1], 16) if "BRA" in words else None
        lines.append(SassLine(16 * index, text, "a.cu", index, None, target))
    return lines


def test_labels_become_addresses():
    lines = compiler.disassemble(compiling.compile(LOOP, arch="sm_75", name="loop"))
    known = {line.address for line in lines}
    jumps = [line for line in lines if line.opcode == "BRA"]
    assert jumps and all(line.target in known for line in jumps)
    assert all(line.target is None for line in lines if line.opcode.split(".")[0] != "BRA")


@pytest.mark.parametrize(
    ("opcode", "count"),
    [
        ("HMMA.1688.F16", 16 * 8 * 8),
        ("HMMA.16816.F32.BF16", 16 * 8 * 16),
        ("HMMA.884.F16.F16", 8 * 8 * 4),
        ("HMMA.1684.F32.TF32", 16 * 8 * 4),
        ("IMMA.16832.S8.S8", 16 * 8 * 32),
        ("HGMMA.64x256x16.F32", 64 * 256 * 16 // 4),
        ("UTCHMMA", 0),
        ("IMAD", 0),
    ],
)
def test_multiply_adds_of_an_opcode(opcode, count):
    assert macs(opcode) == count


@pytest.mark.parametrize(
    ("texts", "turn"),
    [
        (("MOV", "FFMA", "BRA 10", "EXIT", "BRA 40"), 2),  # the trap behind EXIT is no loop
        (("LDG", "BRA 0", "FFMA", "FFMA", "BRA 20", "EXIT"), 3),  # the loop with the mathematics
        (("MOV", "LDG", "BRA 10", "FFMA", "BRA 10", "EXIT"), 4),  # an inner loop without it
        (("MOV", "FFMA", "BRA 10", "STG", "BRA 0", "EXIT"), 2),  # an outer loop over tiles stores results
        (("FFMA", "FFMA", "BRA 0", "FFMA", "BRA 30"), 3),  # a remainder loop does less
    ],
)
def test_the_loop_over_k(texts, turn):
    assert len(main_loop(code(*texts)).lines) == turn


def test_code_without_a_loop_over_k():
    assert main_loop(code("MOV", "EXIT")) is None
    assert main_loop(code("LDG", "BRA 0", "EXIT")) is None
    assert main_loop(code("HFMA2.MMA R1, -RZ, RZ, 0, 0", "BRA 0")) is None


def test_inner_loops_are_apart():
    loop = main_loop(code("MOV", "LDG", "BRA 10", "STS", "BRA 30", "FFMA", "BRA 0"))
    assert [len(part) for part in loop.inner] == [2, 2] and not loop.repeats
    assert main_loop(code("MOV", "FFMA", "BRA 10", "BAR", "BRA 0")).repeats
