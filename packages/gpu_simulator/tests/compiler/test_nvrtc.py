"""Compilation, the learner's own lines in every message, the cache, the speed."""

import compiling
import pytest

from gpu_simulator import compiler
from gpu_simulator.compiler import CompileError
from gpu_simulator.compiler.diagnostics import parse_nvrtc, ptxas_warnings, unreadable
from gpu_simulator.errors import SimulatorError

KERNEL = """#include "config.cuh"
extern "C" __global__ void __launch_bounds__(64) gemm(float* d, int n) {
  __shared__ float tile[SIZE];
  tile[threadIdx.x] = n;
  __syncthreads();
  d[threadIdx.x] = tile[63 - threadIdx.x];
}
"""


def build(source=KERNEL, arch="sm_75", cache=compiling.CACHE, **config):
    return compiling.compile(source, config={"SIZE": 64, **config}, arch=arch, name="test", cache=cache)


def test_compiled_reports_resources():
    made = build()
    assert (made.threads, made.static_smem, made.dynamic_smem, made.spill_stores) == (64, 256, 0, 0)
    assert made.registers > 0 and made.cubin.startswith(b"\x7fELF") and ".entry gemm" in made.ptx
    assert build(SIZE=128).static_smem == 512


def test_dynamic_shared_memory_comes_from_the_source():
    source = "constexpr int SMEM_BYTES = 3 * 4096;\n" + KERNEL.replace(
        "__shared__ float tile[SIZE]", "extern __shared__ float tile[]"
    )
    made = build(source)
    assert (made.static_smem, made.dynamic_smem, made.smem) == (0, 12288, 12288)


def test_ptx_names_no_folder_of_this_machine():
    assert "/" not in "".join(line for line in build().ptx.split("\n") if ".file" in line)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_architectures(arch):
    assert f".target {arch}" in build(arch=arch).ptx


def test_an_unknown_architecture_lists_what_there_is():
    with pytest.raises(SimulatorError, match="sm_75"):
        build(arch="sm_12")


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ('a.cu(3): error: Internal Compiler Error (codegen): "no way!"', "and says only “no way”. Something in the"),
        ("Internal Compiler Error", "an error of its own at this source. Something in the source is not valid"),
    ],
)
def test_an_internal_error_of_the_compiler_is_a_sentence(log, says):
    told = parse_nvrtc(log, {}, ())
    message = told[0].message if told else unreadable(log)
    assert says in message and "undo the last change" in message and "Internal" not in message


def test_a_log_without_any_message_is_shown_as_it_is():
    assert unreadable(" nothing known \n") == "nothing known" and "no reason" in unreadable("")


def test_a_missing_kernel_is_said():
    with pytest.raises(CompileError, match="no kernel called gemm.*found other"):
        compiling.compile('extern "C" __global__ void other() {}', arch="sm_75", name="test")


def test_too_much_shared_memory_is_said_in_words_and_bytes():
    with pytest.raises(CompileError) as caught:
        build(SIZE=20_000)
    (note,) = caught.value.diagnostics
    assert "too much shared data (80,000 bytes, 49,152 max)" in note.message and "info" not in note.message


RING = """extern "C" __global__ void __launch_bounds__(256, 1) gemm(const void* map, float* d) {
  __shared__ alignas(128) float tile[1024];
  __shared__ alignas(8) unsigned long long full;
  const unsigned to = __cvta_generic_to_shared(tile), barrier = __cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 128) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" :: "r"(barrier) : "memory");
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];"
                   :: "r"(to), "l"(map), "r"(0), "r"(barrier) : "memory");
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  asm volatile("{ .reg .pred p; wait: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra wait; }"
               :: "r"(barrier) : "memory");
  d[threadIdx.x] = tile[threadIdx.x];
}
"""


def test_lost_performance_that_ptxas_mentions_is_a_warning():
    """On sm_120a a copy into a cluster's shared memory becomes a call, and with it setmaxnreg is ignored."""
    lost = compiling.compile(RING.replace(", 1) gemm", ") gemm"), arch="sm_90a", name="test").warnings
    assert [(w.severity, w.message[:34]) for w in lost] == [("warning", "(C7508) Potential Performance Loss")]
    assert compiling.compile(RING, arch="sm_90a", name="test").warnings == ()
    if compiler.version() >= (12, 8):
        (warning,) = compiling.compile(RING, arch="sm_120a", name="test").warnings
        assert "Potential Performance Loss: 'setmaxnreg' ignored" in str(warning)


def test_a_log_of_ptxas_gives_each_warning_once():
    log = (
        "ptxas info    : (C7506) Potential Performance Loss: 'setmaxnreg' ignored.\n" * 2
        + "ptxas warning : Value of threads per SM is out of range\nptxas info    : 0 bytes gmem\n"
        + "ptxas info    : Used 24 registers, used 1 barriers, 4104 bytes smem\n"
    )
    assert [str(warning) for warning in ptxas_warnings(log)] == [
        "ptxas: warning: (C7506) Potential Performance Loss: 'setmaxnreg' ignored.",
        "ptxas: warning: Value of threads per SM is out of range",
    ]


# ---- Cache and speed ----


def test_the_cache_returns_the_same_and_notices_every_change(tmp_path):
    first = build(cache=tmp_path)
    assert build(cache=tmp_path) == first and len(list(tmp_path.rglob("*.kernel"))) == 1
    assert build(cache=tmp_path, SIZE=65).key != first.key
    assert build(KERNEL + "\n", cache=tmp_path).key != first.key
    assert build(arch="sm_80", cache=tmp_path).key != first.key
    for file in tmp_path.rglob("*.kernel"):
        file.write_bytes(b"broken")
    assert build(cache=tmp_path) == first


def test_a_full_disk_costs_the_cache_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    assert build(cache=tmp_path).registers > 0 and list(tmp_path.iterdir()) == []
