"""The margin beside the source: the wavefronts of every line, also of scattered copies."""

import numpy as np
import pytest

import gpu_simulator
from gemm_lab import compiling
from gpu_simulator.cli.report_text import margin
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware import banks

SOURCE = """extern "C" __global__ void gather(const unsigned* from, const unsigned* to, const char* data, unsigned* out) {
  __shared__ __align__(16) char smem[8192];
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(smem));
  const char* source = data + from[threadIdx.x] * 16;
  unsigned place = base + to[threadIdx.x] * 16;
  asm volatile("cp.async.KIND.shared.global [%0], [%1], 16;" :: "r"(place), "l"(source) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<unsigned*>(smem)[threadIdx.x * 4];
}
"""


def gather(kind, source, to):
    text = SOURCE.replace("KIND", kind)
    compiled = compiling.compile(text, arch="sm_90a", name="gather", entry="gather")
    arguments = [source.astype(np.uint32), to.astype(np.uint32), np.zeros(8192, np.uint8), np.zeros(32, np.uint32)]
    report = gpu_simulator.launch(compiled, "gather", 1, 32, arguments)
    line = next(
        line
        for line in margin(report, "gather.cu", text).split("\n")
        if "cp.async.ca.shared" in line or "cp.async.cg.shared" in line
    )
    return report, line


def test_scattered_copies_show_their_wavefronts():
    rng = np.random.default_rng(4)
    scattered = rng.permutation(512)[:32], rng.permutation(512)[:32]
    counts = {
        "ca": banks.cp_async_ca_wavefronts(*(16 * side for side in scattered), 16),
        "cg": banks.cp_async_cg_wavefronts(*(16 * side for side in scattered)),
    }
    for kind, count in counts.items():
        report, line = gather(kind, *scattered)
        site = next(s for s in report.sites if s.opcode.startswith("cp.async.c"))
        assert site.wavefronts == count > 8 and f" {count} " in line and f" {count / 4:.1f} " in line


def test_copies_of_rows_show_the_ideal():
    for kind in ("ca", "cg"):
        _, line = gather(kind, np.arange(32), np.arange(32))
        assert " 4 " in line and " 1.0 " in line


def test_a_line_without_shared_accesses_shows_no_wavefronts():
    report, _ = gather("ca", np.arange(32), np.arange(32))
    text = SOURCE.replace("KIND", "ca")
    line = next(line for line in margin(report, "gather.cu", text).split("\n") if "const char* source" in line)
    executions, sectors, number = line.split("  const")[0].split()
    assert int(executions) > 0 and (sectors, number) == ("4", "4")


def test_what_tensor_cores_read_themselves_has_a_column():
    import gemm_lab as lab

    run = lab.kernel("hopper/01_wgmma").run(n=256, backend="simulator")
    (line,) = [line for line in run.hot_lines().lines if line.operand_bytes]
    count = (256 // 64) * (256 // 128) * (256 // 16)
    assert line.operand_bytes == count * (64 + 128) * 32 and "multiply(k_tile)" in line.text
    assert "operands, KB" in repr(run.hot_lines()) and f" {line.operand_bytes // 1024} " in repr(run.hot_lines())
    assert "operands" not in repr(lab.kernel("t4/01_hierarchical_tiling").run(n=256, backend="simulator").hot_lines())


def test_the_margin_of_some_regions_alone():
    import gemm_lab as lab

    run = lab.kernel("t4/02_vectorized_copy").run(n=256, backend="simulator")
    whole, part = repr(run.hot_lines()), repr(run.hot_lines("load", "multiply"))
    assert "alpha" in whole and "alpha" not in part
    for line in ("smem_a[chunk_a(row, chunk)] =", "ldmatrix_x4_trans("):
        assert line in whole and line in part
    assert run.hot_lines("load").lines == run.hot_lines().lines, "all lines are there, and some are shown"
    assert "ldmatrix" not in run.hot_lines("load")._repr_html_()
    for wrong, says in {"loads": "has no region “loads”; it has", 70: "named by its name, such as “"}.items():
        with pytest.raises(ConfigError, match=says):
            run.hot_lines(wrong)


def test_the_margin_of_an_edited_region_is_that_of_the_cell():
    import gemm_lab as lab

    plain = lab.kernel("t4/02_vectorized_copy")
    run = plain.edit(load=plain.regions["load"]).run(n=256, backend="simulator")
    assert "smem_a[" in repr(run.hot_lines("load")) and "ldmatrix" not in repr(run.hot_lines("load"))
