"""Every kernel of the catalogue by way of LLVM IR, as a clang without a back end for NVIDIA's GPUs compiles it."""

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab.on_simulator import check_on_simulator, smallest_size
from gpu_simulator.compiler import clang, nvrtc_library

pytestmark = pytest.mark.skipif(not clang.installed(), reason="ziglang is not installed: pip install ziglang")

# The two halves of a pair of 16-bit values that NVRTC reads at once.
OTHER_WAVEFRONTS = {"wmma/async_bf16"}


class WritesIR(clang.Installed):
    """The installed clang, which is asked for LLVM IR."""

    writes_ir = True

    def version(self):
        return f"{super().version()}, LLVM IR"  # it tells the stored results from those of the back end


@pytest.fixture
def through_ir(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_COMPILER", "clang")
    clang.use(WritesIR())
    yield
    clang.use(clang.Installed())


def counted(kernel):
    return check_on_simulator(kernel, kernel.compile_as_taught(), *smallest_size(kernel))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "t4/03_swizzled" else pytest.mark.long) for name in catalog.kernels()],
)
def test_a_kernel_is_exact_and_costs_the_same_wavefronts(name, through_ir, monkeypatch):
    kernel = lab.kernel(name)
    verdicts, report = counted(kernel)
    assert all(verdicts), verdicts[-1].message
    if not nvrtc_library.is_installed():
        return
    monkeypatch.setenv("GEMM_LAB_COMPILER", "nvrtc")
    _, expected = counted(kernel)
    assert (report.totals.wavefronts == expected.totals.wavefronts) == (name not in OTHER_WAVEFRONTS)


def test_counts_stand_at_lines_of_the_kernel(through_ir):
    kernel = lab.kernel("t4/03_swizzled")
    _, report = counted(kernel)
    own = {line for line, text in enumerate(kernel.source.split("\n"), 1) if "mma_" in text}
    products = [site for site in report.sites if site.opcode.startswith("mma.")]
    assert products and all({line for _, line in site.inlined_at} & own for site in products)
