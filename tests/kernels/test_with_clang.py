"""Every kernel of the catalogue, compiled by clang in place of NVIDIA's compiler: results exact, banks met alike."""

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab.on_simulator import check_on_simulator, smallest_size
from gpu_simulator.compiler import clang, nvrtc_library

pytestmark = pytest.mark.skipif(not clang.installed(), reason="ziglang is not installed: pip install ziglang")

# clang reads two neighbouring 16-bit values one by one where NVRTC reads both at once.
OTHER_WAVEFRONTS = {"first_kernels/01_plain_loads"}


def counted(name, using, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_COMPILER", using)
    kernel = lab.kernel(name)
    return check_on_simulator(kernel, kernel.compile_as_taught(), *smallest_size(kernel))


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", catalog.kernels())
def test_a_kernel_is_exact_and_costs_the_same_wavefronts(name, monkeypatch):
    verdicts, report = counted(name, "clang", monkeypatch)
    assert all(verdicts), verdicts[-1].message
    if not nvrtc_library.is_installed():
        return
    _, expected = counted(name, "nvrtc", monkeypatch)
    assert (report.totals.wavefronts == expected.totals.wavefronts) == (name not in OTHER_WAVEFRONTS)
