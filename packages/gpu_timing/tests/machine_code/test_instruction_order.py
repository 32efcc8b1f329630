"""Runs of opcodes, and how many mma stand between ldmatrix and its use: on written code and on kernels."""

import pytest

from gpu_simulator.compiler import SassLine
from gpu_simulator.errors import SimulatorError
from gpu_timing.machine_code.instruction_order import mma_before_use, runs


def code(*texts):
    """Instructions at addresses 0, 16, 32 …; the last one jumps back to the first."""
    lines = [SassLine(16 * place, text + " ;", "k.cu", 1) for place, text in enumerate(texts)]
    return [*lines, SassLine(16 * len(lines), "@P0 BRA `(.L_0) ;", "k.cu", 1, target=0)]


LOAD_A, LOAD_B = "LDSM.16.M88.4 R8, [R60]", "LDSM.16.MT88.4 R16, [R61]"
USES_A0, USES_A2, OTHER = (
    "HMMA.1688.F16 R40, R8, R20, R40",
    "HMMA.1688.F16 R42, R10, R20, R42",
    "HMMA.1688.F16 R44, R30, R32, R44",
)
USES_B3 = "HMMA.1688.F16 R46, R30, R19, R46"


def test_runs_count_neighbours_and_leave_out_the_rest():
    lines = code("LDG.E.128 R0, [R2]", "IADD3 R1, R1, R2, RZ", "LDG.E.128 R4, [R2]", "STS.128 [R5], R0", "BAR.SYNC 0x0")
    assert runs(lines, ("LDG", "STS", "BAR")) == [("LDG", 2), ("STS", 1), ("BAR", 1)]


@pytest.mark.parametrize(
    "texts, distances",
    [
        ((LOAD_A, USES_A0, OTHER), [0]),
        ((LOAD_A, OTHER, OTHER, USES_A2), [2]),
        ((LOAD_A, "IADD3 R1, R1, R2, RZ", LOAD_B, OTHER, USES_A0, USES_B3), [1, 2]),
        ((USES_A0, OTHER, OTHER, LOAD_A, OTHER), [1]),  # around the end of the loop
        ((LOAD_A, "HMMA.16816.F16 R44, R32, R7, R44", USES_A0), [0]),  # m16n8k16 reads B from two registers
    ],
)
def test_mma_between_a_load_and_its_use(texts, distances):
    assert mma_before_use(code(*texts)) == distances


def test_code_without_such_a_loop_is_refused():
    with pytest.raises(SimulatorError, match="no main loop with LDSM and HMMA"):
        mma_before_use(code("IADD3 R1, R1, R2, RZ"))
    with pytest.raises(SimulatorError, match="No HMMA reads"):
        mma_before_use(code(LOAD_A, OTHER))
