"""The margin beside the source: one number where a count is exact, two where it is not."""

import numpy as np
import pytest

from gemm_lab import compiler, emulator
from gemm_lab.api.emulate_file import margin
from gemm_lab.api.hot_lines import span

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
    compiled = compiler.compile(text, arch="sm_90a", name="gather", entry="gather")
    arguments = [source.astype(np.uint32), to.astype(np.uint32), np.zeros(8192, np.uint8), np.zeros(32, np.uint32)]
    report = emulator.launch(compiled, "gather", 1, 32, arguments)
    line = next(line for line in margin(report, "gather.cu", text).split("\n") if "cp.async.ca.shared" in line
                or "cp.async.cg.shared" in line)
    return report, line


def test_scattered_copies_show_a_range():
    rng = np.random.default_rng(4)
    scattered = rng.permutation(512)[:32], rng.permutation(512)[:32]
    report, line = gather("ca", *scattered)
    t = report.totals
    assert t.wavefronts_low < t.wavefronts_high and t.wavefronts_low <= t.wavefronts <= t.wavefronts_high
    loads = report.totals.wavefronts - next(s for s in report.sites if s.opcode.startswith("cp.async.ca")).wavefronts
    assert f" {t.wavefronts_low - loads}–{t.wavefronts_high - loads} " in line
    report, line = gather("cg", *scattered)
    assert "–" not in line and report.totals.wavefronts_low == report.totals.wavefronts_high


def test_copies_of_rows_show_a_number():
    for kind in ("ca", "cg"):
        _, line = gather(kind, np.arange(32), np.arange(32))
        assert "–" not in line and " 4 " in line


@pytest.mark.parametrize(("low", "high", "text"), [(0, 0, ""), (12, 12, "12"), (10, 12, "10–12"),
                                                   (1500, 1620, "1,500–1,620")])
def test_span(low, high, text):
    assert span(low, high) == text
