"""What is asked of the machine code of an answer, on written code."""

from types import SimpleNamespace

import gemm_lab as lab
from gemm_lab.notebook.judges import kernel_judge
from gemm_lab_lessons.shared.criteria import code_criteria
from gpu_simulator.compiler import SassLine


def code(*texts):
    """Instructions at addresses 0, 16, 32 …; the last one jumps back to the first."""
    lines = [SassLine(16 * place, text + " ;", "k.cu", 1) for place, text in enumerate(texts)]
    return [*lines, SassLine(16 * len(lines), "@P0 BRA `(.L_0) ;", "k.cu", 1, target=0)]


MULTIPLY, BARRIER, LOAD = "HMMA.1688.F16 R44, R30, R32, R44", "BAR.SYNC 0x0", "LDG.E R4, [R2]"


def judged(monkeypatch, wanted, *configurations):
    """What the judge finds where each configuration has become one of these listings."""
    listings = {f"configuration {number}": texts for number, texts in enumerate(configurations)}
    monkeypatch.setattr(code_criteria, "disassemble", lambda compiled: code(*listings[compiled.name]))
    found, kernel = kernel_judge.Judgement(), lab.kernel("simt/01")
    found.runs = [
        (f"{name}: ", SimpleNamespace(kernel=kernel, compiled=SimpleNamespace(name=name, arch="sm_75")))
        for name in listings
    ]
    kernel_judge._judge_machine_code(found, {where: wanted for where, _ in found.runs})
    return found


def test_configurations_that_miss_different_counts_miss_both(monkeypatch):
    found = judged(monkeypatch, {"barriers": 0, "global_loads": 0}, [MULTIPLY, BARRIER], [MULTIPLY, LOAD])
    assert (found.missed, found.asked) == (2, 2)
    assert [reason.partition(":")[0] for reason in found.reasons] == ["configuration 0", "configuration 1"]
    assert "1 barriers" in found.reasons[0] and "loads 1 times" in found.reasons[1]


def test_a_count_that_two_configurations_miss_is_missed_once(monkeypatch):
    found = judged(monkeypatch, {"barriers": 0, "global_loads": 0}, [MULTIPLY, BARRIER, LOAD], [MULTIPLY, LOAD])
    assert (found.missed, found.asked) == (2, 2)
    assert [reason.partition(":")[0] for reason in found.reasons] == ["configuration 0"] * 2


def test_a_loop_that_multiplies_by_another_instruction_is_judged_though_it_has_ldmatrix(monkeypatch):
    other = ["LDSM.16.M88.4 R8, [R60]", "IMMA.16816.S8.S8 R44, R8.ROW, R12.COL, R44"]
    found = judged(monkeypatch, {"mma_before_use": 1}, other)
    assert found.missed == 1 and "have 0 mma or fewer between them and the mma" in found.reasons[0]
