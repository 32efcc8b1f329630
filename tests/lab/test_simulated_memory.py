"""A run that would not fit into memory is refused before its inputs are made."""

import re

import pytest

import gemm_lab as lab
from gemm_lab.lab import on_simulator
from gemm_results.errors import LabError
from gpu_simulator.memory_limit import VARIABLE


def test_a_run_that_does_not_fit_names_a_size_that_does(monkeypatch):
    monkeypatch.setenv(VARIABLE, "100")
    monkeypatch.setattr(on_simulator, "make_inputs", lambda *_: pytest.fail("the inputs were made"))
    kernel = lab.kernel("t4/03_swizzled")
    with pytest.raises(LabError, match=r"1\.7 GB of memory.*100\.0 MB may be used") as said:
        kernel.run(n=4096, backend="simulator", sure=True)
    edge = int(re.search(r"(\d+) × \d+ × \d+ would fit", str(said.value))[1])
    on_simulator.require_memory(kernel, edge, edge, edge)
    with pytest.raises(LabError):
        on_simulator.require_memory(kernel, 2 * edge, 2 * edge, 2 * edge)


def test_an_ordinary_run_is_let_pass(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1000")
    on_simulator.require_memory(lab.kernel("simt/01_naive"), 2048, 2048, 2048)
