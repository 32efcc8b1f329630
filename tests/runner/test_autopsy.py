"""The second run with checks, over a CuPy made of Python: assembly, ranges, report, faults and hangs."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from fake_cupy import C_INT, POINTER, FakeGpu, view

from gpu_runner import bindings
from gpu_runner.driver import Device, DriverError
from gpu_runner.postmortem import autopsy

PTX = ".version 9.0\n.target sm_90\n"


@pytest.fixture
def examine(monkeypatch):
    """Run the examination of one "kernel" with the arguments (float array, int)."""

    def run(body, refuse=lambda image: 0, variables=(), limit_s=0.0):
        monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
        monkeypatch.setattr(autopsy, "GRACE_S", 0.05)
        cuda = FakeGpu({"gemm": ((POINTER, C_INT), body)})
        gpu = Device(cuda)
        for call in ("cuLaunchKernelEx", "cuModuleGetGlobal"):
            monkeypatch.setattr(bindings.driver, call, getattr(cuda.driver, call))
        ranges, control, table = (gpu.upload(np.zeros(64, np.uint64)) for _ in range(3))
        cuda.variables = {
            "gemmlab_ranges": (ranges.address, 512),
            "gemmlab_control": (control.address, 32),
            "table": (table.address, 100),
        }
        cuda.refuse_image = refuse
        found = autopsy.examine(
            gpu,
            SimpleNamespace(running=lambda **facts: None),
            ptx=PTX,
            variables=list(variables),
            entry="gemm",
            threads=32,
            dynamic_smem=0,
            grid=(1, 1, 1),
            args=[np.zeros(4, np.float32), 5],
            cluster=(1, 1, 1),
            limit_s=limit_s,
        )
        cuda.failing = 0  # so that the test may look at what a fault would have taken
        return SimpleNamespace(
            found=found, cuda=cuda, ranges=ranges.read("uint64", (8,)), control=control.read, table=table
        )

    return run


def test_the_kernel_is_told_its_arrays_and_variables_and_writes_into_host_memory(examine):
    seen = {}

    def body(d, n):
        seen["n"] = n

    done = examine(body, variables=["table", "removed"], limit_s=2.0)
    address, size = done.found["arrays"][0]
    places = [2, address, address + size, done.table.address, done.table.address + 100]
    assert seen == {"n": 5} and size == 16 and done.ranges[:5].tolist() == places
    host, nanoseconds = done.control("uint64", (2,)).tolist()
    assert nanoseconds == 2_000_000_000 and not view(host, 512, "uint8").any()
    assert done.found["finished"] and done.found["fault"] is None and not any(done.found["report"])


def test_a_fault_ends_the_wait_and_is_named(examine):
    done = examine(lambda d, n: 700, limit_s=60.0)
    assert done.found["finished"] and done.found["fault"] == "CUDA_ERROR_ILLEGAL_ADDRESS"


def test_a_kernel_that_does_not_end_is_left_after_the_limit(examine, monkeypatch):
    monkeypatch.setattr(Device, "reached", lambda self, event: False)
    done = examine(lambda d, n: None)
    assert not done.found["finished"] and done.found["fault"] is None


@pytest.mark.parametrize("code", [218, 222])
def test_an_older_driver_gets_a_lower_version(examine, code):
    done = examine(lambda d, n: None, refuse=lambda image: 0 if b".version 8.6" in image else code)
    assert [image.split()[1] for image in done.cuda.images[:2]] == [b"9.0", b"8.8"]
    assert b".version 8.6" in done.cuda.images[-1]


def test_ptx_that_no_version_helps_is_an_error(examine):
    with pytest.raises(DriverError, match="CUDA_ERROR_300"):
        examine(lambda d, n: None, refuse=lambda image: 300)
    with pytest.raises(DriverError, match="CUDA_ERROR_218"):
        examine(lambda d, n: None, refuse=lambda image: 218)
