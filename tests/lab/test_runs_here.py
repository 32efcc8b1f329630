"""A kernel on a GPU that it is not written for: the simulator runs it, compiled for the GPU that it is taught on."""

from importlib import import_module

import pytest

import gemm_lab as lab
import gpu_runner as device
from gemm_lab.lab import measuring
from gemm_lab.lab.actions.running import backend_of
from gemm_lab.lab.here import Here
from gemm_lab.lab.measuring import benchmark_kernels
from gemm_lab_lessons.shared.fault_injection import inject_fault
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware import data_sheets as hardware


@pytest.fixture(autouse=True)
def an_h200(monkeypatch):
    present = hardware.Present("NVIDIA H200", "sm_90a", 132, (13, 0), 141.0, hardware.gpu("h200"))
    for module in (import_module("gemm_lab.lab.kernel"), import_module("gemm_lab.lab.here"), measuring):
        monkeypatch.setattr(module, "here", lambda: Here(present, True, ""))
    monkeypatch.setattr(device, "holder", lambda: "")
    monkeypatch.delenv("GEMM_LAB_BACKEND", raising=False)


def test_what_is_written_for_it_runs_on_it():
    kernel = lab.kernel("ampere/04")
    assert kernel.runs_here() and kernel.compile().arch == "sm_90a" and backend_of(kernel, None) == "gpu"


def test_what_is_not_is_simulated_as_the_taught_gpu():
    kernel = lab.kernel("b200/03")
    assert not kernel.runs_here() and kernel.compile().arch == "sm_100a"
    run = kernel.run(512)
    assert run.passed and run.backend == "simulator" and run.compiled.arch == "sm_100a"
    assert kernel.grid(8192, 8192, 8192)[0] <= lab.gpu("b200").sms
    assert kernel.occupancy().blocks == 1


def test_asking_for_the_gpu_is_refused(monkeypatch):
    kernel = lab.kernel("b200/01")
    with pytest.raises(ConfigError, match="sm_100a, sm_103a, not for sm_90a; the simulator runs it"):
        kernel.run(512, backend="gpu")
    monkeypatch.setenv("GEMM_LAB_BACKEND", "gpu")
    with pytest.raises(ConfigError, match="not for sm_90a"):
        kernel.run(512)
    with pytest.raises(ConfigError, match="not for sm_90a"):
        benchmark_kernels([kernel], [4096], baselines=(), ceiling=None, regime="burst", rounds=1, progress=False)


def test_what_the_simulator_counts_is_of_the_taught_gpu():
    run = lab.kernel("t4/03").run(512, backend="simulator")
    assert run.compiled.arch == "sm_75"


@pytest.mark.long
def test_damage_is_told_in_the_same_words_on_every_machine(monkeypatch):
    def unfenced():
        return inject_fault("rtx5090/02", {"fence_mbarrier_init();": ""})

    on_an_h200 = unfenced()
    monkeypatch.undo()
    assert on_an_h200.kind == "a hazard" and on_an_h200 == unfenced()
