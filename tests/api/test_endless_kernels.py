"""Kernels that do not end, in every way that the lab runs one on the emulator: a sentence, and the next one works."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.api import emulating
from gemm_lab.emulator import BudgetExceeded
from gemm_lab.errors import LabError

SPIN = "volatile const float* p = a; while (p[0] < 1e30f) ;"
PRINT = 'for (int i = 0; i < 300; ++i) printf("row %d of thread %d\\n", i, threadIdx.x);'
HEAD = ('extern "C" __global__ void __launch_bounds__(1024) gemm(const float* a, const float* b, float* d, int m, int n, '
        "int k) {\n  %s\n  d[threadIdx.x] = 0;\n}\n")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_BACKEND", "emulator")
    monkeypatch.setattr(emulating, "FREE_INSTRUCTIONS", 100_000)
    for limit in ("LAUNCH_SECONDS", "MOST_SECONDS"):  # instructions alone end a launch here: a busy machine changes nothing
        monkeypatch.setattr(emulating, limit, 600.0)


@pytest.mark.parametrize("how", ["run", "gemm", "hazards"])
def test_a_spin_is_stopped_wherever_it_runs(how):
    kernel = lab.kernel("simt/01")
    spinning = kernel.rewrite(HEAD % SPIN)
    ones = np.ones((32, 32), np.float32)
    with pytest.raises(BudgetExceeded, match="instructions; it spins at cell:2"):
        if how == "run":
            spinning.run(32)
        elif how == "gemm":
            spinning.gemm(ones, ones)
        else:
            emulating.find_hazards(spinning, spinning.compile())
    assert np.array_equal(kernel.gemm(ones, ones), 32 * ones)


def test_what_a_kernel_prints_is_shown_cut():
    run = lab.kernel("simt/01").rewrite(HEAD % PRINT).run(32)
    assert not run.passed and len(run.output) > 900_000
    assert len(repr(run)) < 6000 and "more characters, in .output" in repr(run)
    assert "row 0 of thread 0" in run._repr_html_() and run._repr_html_().count("of thread") < 400


def test_a_backend_that_is_not_there_is_a_sentence():
    with pytest.raises(LabError, match="choose auto, gpu, emulator"):
        lab.kernel("simt/01").run(32, backend="gpuu")
