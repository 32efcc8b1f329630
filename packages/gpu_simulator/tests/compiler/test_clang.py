"""clang in place of NVRTC: results, the learner's lines, and what it refuses. Where ziglang is missing these tests skip."""

import re
import sys

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator import compiler
from gpu_simulator.compiler import CompileError, clang
from gpu_simulator.errors import ConfigError, MissingDependency, SimulatorError

pytestmark = pytest.mark.skipif(not clang.installed(), reason="ziglang is not installed: pip install ziglang")

MOVES = """#include "config.cuh"
float twice(float x) { return 2 * x; }
__device__ __forceinline__ void put(float* to, int at, float value) {
  to[at] = value;
}
extern "C" __global__ void __launch_bounds__(64) gemm(float* d, int n) {
  __shared__ float tile[SIZE];
  tile[threadIdx.x] = n + threadIdx.x;
  __syncthreads();
  put(d, threadIdx.x + blockIdx.x * blockDim.x, twice(tile[63 - threadIdx.x]));
}
"""


def build(source=MOVES, arch="sm_90a", **options):
    return compiler.compile(
        source, **{"config": {"SIZE": 64}, "arch": arch, "name": "test", "using": "clang", **options}
    )


def run(made, *args, grid=(2, 1, 1), block=(64, 1, 1)):
    return gpu_simulator.launch(made.ptx, made.entry, grid, block, args, observers=("hazards",))


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_a_kernel_for_each_generation_is_exact(arch):
    made, d = build(arch=arch), np.zeros(128, np.float32)
    report = run(made, d, 5)
    assert np.array_equal(d, np.tile(2.0 * (5 + 63 - np.arange(64)), 2)) and not report.hazards
    assert f".target {arch}" in made.ptx


def test_what_is_known_without_machine_code():
    made = build()
    assert (made.threads, made.static_smem, made.dynamic_smem, made.entry, made.cubin) == (64, 256, 0, "gemm", b"")
    extern = MOVES.replace("__shared__ float tile[SIZE]", "extern __shared__ float tile[]")
    assert build("constexpr int SMEM_BYTES = 3 * 4096;\n" + extern).smem == 12288


@pytest.mark.parametrize(
    "declared, size",
    [
        (".shared .align 4 .b8 a[256];", 256),
        (".shared .align 4 .b8 a[6];\n\t.shared .align 16 .b8 b[32];", 48),
        (".extern .shared .align 16 .b8 s[];", 0),
        (".shared .align 4 .u32 one;", 4),
    ],
)
def test_shared_memory_is_added_up_with_its_alignment(declared, size):
    assert clang.static_shared_bytes("\t" + declared + "\n") == size


def test_counts_stand_at_the_line_and_at_the_call_of_inlined_code():
    report = run(build(), np.zeros(128, np.float32), 5)
    stores = [site for site in report.sites if site.opcode.startswith("st.global")]
    assert [(s.line, [line for _, line in s.inlined_at]) for s in stores] == [(4, [10])]
    loads = [site for site in report.sites if site.opcode.startswith("ld.shared")]
    assert {site.line for site in loads} == {10} and sum(site.wavefronts for site in loads) == 4


def test_the_ptx_names_no_folder_of_this_machine():
    assert all("/" not in file for file in re.findall(r'\.file\s+\d+\s+"([^"]*)"', build().ptx))


@pytest.mark.parametrize(
    "wrong, line, words",
    [
        ("tile[63 - threadIdx.x]", 10, "undeclared identifier 'tyle'"),
        ("blockIdx.x * blockDim.x", 10, "no member named 'q'"),
    ],
)
def test_an_error_stands_at_the_learners_line_with_its_place(wrong, line, words):
    typo = {"tile[63 - threadIdx.x]": "tyle[63 - threadIdx.x]", "blockIdx.x * blockDim.x": "blockIdx.q * blockDim.x"}
    with pytest.raises(CompileError) as error:
        build(MOVES.replace(wrong, typo[wrong]))
    first = error.value.diagnostics[0]
    assert (first.file, first.line, first.severity) == ("test.cu", line, "error") and words in first.message
    assert first.text.startswith("put(d") and first.text[first.caret :].startswith(("tyle", "q"))


def test_an_error_in_a_cell_names_the_line_of_the_cell():
    cell = "  flot x = 1;\n  d[0] = x;"
    source = f'extern "C" __global__ void gemm(float* d) {{\n#line 3 "cell"\n{cell}\n#line 9 "test.cu"\n}}\n'
    with pytest.raises(CompileError, match=r"cell, line 3: error: use of undeclared identifier 'flot'"):
        build(source, cell=(cell, 3))


def test_a_kernel_of_another_name_is_named():
    with pytest.raises(CompileError, match=r"there is no kernel called gemm.*found other"):
        build(MOVES.replace("gemm(", "other("))


def test_what_is_refused_says_what_would_work():
    with pytest.raises(ConfigError, match="choose nvrtc or clang"):
        build(using="gcc")
    with pytest.raises(CompileError, match="the kernel's name: error: reduce<int> names no kernel"):
        build(instances=["reduce<int>"])
    with pytest.raises(SimulatorError, match="sm_12"):
        build(arch="sm_12")


def test_without_the_package_a_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(clang, "installed", lambda: False)
    with pytest.raises(SimulatorError, match=r"pip install (ziglang|.gpu_simulator.clang)"):
        clang.to_ptx("", "", "sm_75", "test.cu", {}, [], "c++17", ())


def test_a_page_may_bring_a_clang_of_its_own(monkeypatch):
    class Own:
        writes_ir = False

        def __call__(self, arguments, files):
            self.asked = arguments, files
            return 1, "", "test.cu:3:5: error: so it is\n"

        def version(self):
            return "clang version 99"

    own = Own()
    monkeypatch.setattr(clang, "_in_use", clang._in_use)
    clang.use(own)
    with pytest.raises(CompileError, match="test.cu, line 3: error: so it is"):
        build()
    assert clang.version() == "clang version 99" and own.asked[0][-1] == "test.cu"
    assert {"test.cu", "config.cuh", "include0/cuda_builtins.h"} <= set(own.asked[1])
    clang.use(clang.Installed())


class WritesIR:
    """A clang without a back end for NVIDIA GPUs, which writes this IR."""

    writes_ir = True

    def __init__(self, text):
        self.text = text

    def __call__(self, arguments, files):
        return 0, self.text, ""

    def version(self):
        return "clang version 99"


def test_what_has_no_translation_is_an_error_of_the_simulator(monkeypatch):
    pytest.importorskip("llvm_ir_to_ptx")
    monkeypatch.setattr(clang, "_in_use", WritesIR("define ptx_kernel void @k() {\n  va_arg ptr %d, i32\n}\n"))
    with pytest.raises(SimulatorError, match="va_arg .* cannot be translated into PTX here"):
        build()


def test_without_the_translation_a_sentence_says_what_brings_it(monkeypatch):
    monkeypatch.setattr(clang, "_in_use", WritesIR(""))
    monkeypatch.setitem(sys.modules, "llvm_ir_to_ptx", None)
    with pytest.raises(MissingDependency, match="pip install gemm_lab"):
        build()


def test_clang_is_chosen_where_it_alone_is_installed(monkeypatch):
    from gpu_simulator.compiler import nvrtc

    monkeypatch.setattr(nvrtc, "is_installed", lambda: False)
    assert nvrtc.chosen(None) == "clang" and nvrtc.chosen("nvrtc") == "nvrtc"
    monkeypatch.setattr(nvrtc, "is_installed", lambda: True)
    assert nvrtc.chosen(None) == "nvrtc" and nvrtc.chosen("clang") == "clang"
