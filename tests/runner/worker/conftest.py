"""A worker over a CuPy made of Python."""

import sys
from types import SimpleNamespace

import pytest
from fake_cupy import FakeGpu

from gpu_runner import bindings, operations
from gpu_runner import support as support_module
from gpu_runner.baselines import cublas
from gpu_runner.driver import Device


@pytest.fixture
def worker(monkeypatch):
    """Build a worker with the given kernels: its GPU, cuBLAS and context."""

    def build(kernels, **options):
        cuda = FakeGpu(kernels, **options)
        gpu = Device(cuda)
        monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # a fault silences it
        for call in ("cuLaunchKernelEx", "cuModuleGetGlobal"):
            monkeypatch.setattr(bindings.driver, call, getattr(cuda.driver, call))
        monkeypatch.setattr(support_module, "build", lambda arch: b"\x7fELF")
        kit, blas = support_module.Support(gpu), cublas.Blas(gpu)
        monkeypatch.setattr(operations, "device", lambda: gpu)
        monkeypatch.setattr(operations, "support", lambda: kit)
        monkeypatch.setattr(operations, "blas", lambda: blas)
        reports = []
        context = SimpleNamespace(
            progress=lambda **facts: reports.append(facts),
            running=lambda **facts: reports.append({"stage": "running", **facts}),
            reports=reports,
        )
        return SimpleNamespace(cuda=cuda, gpu=gpu, lib=cuda.cublas, context=context)

    return build
