"""When the GPU counts as usable, and what to type when it does not; and CuPy has every name that the worker uses."""

import importlib.util
import sys

import pytest
from fake_cupy import FakeDriver, FakeGpu, FakeRuntime

import gpu_runner as device
from gpu_simulator.hardware import data_sheets as hardware

H200 = hardware.Present("NVIDIA H200", "sm_90a", 132, (13, 0), 141.0, None)


@pytest.fixture
def machine(monkeypatch):
    """A Linux machine with this GPU (None: without) and CuPy installed or not."""

    def build(present, cupy=True, platform="linux"):
        find = importlib.util.find_spec
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(hardware, "detect", lambda: present)
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: (object() if cupy else None) if name == "cupy" else find(name)
        )

    return build


def test_a_gpu_with_cupy_is_available(machine):
    machine(H200)
    assert device.available() and device.why_not() == ""
    assert "cupy" not in sys.modules or hasattr(sys.modules["cupy"], "__version__")


@pytest.mark.parametrize("driver, extra", [((12, 4), "cuda12"), ((12, 9), "cuda12"), ((13, 0), "cuda13")])
def test_without_cupy_the_extra_of_the_driver_is_named(machine, driver, extra):
    machine(hardware.Present("Tesla T4", "sm_75", 40, driver, 15.8, None), cupy=False)
    assert not device.available() and f"pip install 'cuda-bindings=={extra[-2:]}." in device.why_not()
    assert f"cupy-{extra}x" in device.why_not() and "gemm_lab[" not in device.why_not(), "no index has gemm_lab"


def test_no_gpu_or_no_linux_is_said_first(machine, monkeypatch):
    machine(None, cupy=False)
    assert "nvidia-smi" in device.why_not()
    machine(H200, platform="win32")
    assert "WSL" in device.why_not()
    machine(H200)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert "CUDA_VISIBLE_DEVICES" in device.why_not()


def test_cupy_has_every_name_of_the_fake():
    cuda = pytest.importorskip("cupy").cuda
    for fake, real in ((FakeRuntime, cuda.runtime), (FakeDriver, cuda.driver), (FakeGpu({}).Event, cuda.Event)):
        names = [name for name in vars(fake) if not name.startswith(("_", "cu")) or name.startswith("cuda")]
        assert names and [name for name in names if not hasattr(real, name)] == []
    for name in ("cudaDevAttrMultiProcessorCount", "memcpyDefault", "hostAllocPortable", "hostAllocMapped"):
        assert getattr(FakeRuntime, name) == getattr(cuda.runtime, name)
    assert cuda.driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8 and callable(cuda.get_elapsed_time)
