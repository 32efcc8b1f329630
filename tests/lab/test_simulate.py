"""`lab.simulate`: a kernel of the learner's own, its lines, its worst line with the reason, and every error as a card."""

import numpy as np
import pytest

import gemm_lab as lab
from gpu_simulator.compiler import CompileError
from gpu_simulator.errors import ConfigError, LaunchError
from gpu_simulator.faults import BudgetExceeded, Deadlock, MemoryFault

TRANSPOSE = """__global__ void transpose(float* out, const float* in) {
  __shared__ float tile[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  for (int r = y; r < 32; r += 8) tile[r][x] = in[r * 32 + x];
  __syncthreads();
  for (int r = y; r < 32; r += 8) out[r * 32 + x] = tile[x][r];
}
"""


def square():
    return np.arange(1024, dtype=np.float32).reshape(32, 32)


def transposed(source=TRANSPOSE, **options):
    out, given = np.zeros((32, 32), np.float32), square()
    return lab.simulate(source, **{"grid": 1, "block": (32, 8), "args": [out, given], **options})


def test_a_transpose_is_shown_line_by_line_with_the_layouts_that_mend_it():
    shown = transposed()
    assert (shown.arrays[0] == square().T).all() and shown.hazards == [] and shown.error is None
    lines = {line.number: (line.wavefronts, line.ideal_wavefronts, line.excess, line.sectors) for line in shown.lines}
    assert lines == {4: (32, 32, 0, 128), 6: (1024, 32, 992, 128)}
    assert [line.number for line in shown.worst] == [6]
    text, page = repr(shown), shown._repr_html_()
    for words in (
        "Line 6 costs most in shared memory: 1,024 wavefronts, 992 more than the least possible.",
        "Neighbouring lanes are 32 words (128 bytes) apart",
        "need 32 different words of bank 0 (words 0, 32, 64 … 992)",
        "changed 1,023 of 1,024",
        "no race and no missing wait was found",
        "tile[row][column ^ (row & 31)]",
        "__shared__ float tile[32][32 + 1];",
    ):
        assert words in " ".join(text.split()), words
        assert words.replace("&", "&amp;").replace(" ", "") in page.replace(" ", ""), words
    best = shown.layouts[0].best[0]
    assert best.total == 64 and best.layout.bytes == 4096


def test_what_is_advised_gives_what_it_promises():
    promised = {trial.layout.code: trial.total for trial in transposed().layouts[0].best}
    padded = transposed(TRANSPOSE.replace("tile[32][32]", "tile[32][32 + 1]"))
    xored = transposed(
        TRANSPOSE.replace("tile[r][x]", "tile[r][x ^ (r & 31)]").replace("tile[x][r]", "tile[x][r ^ (x & 31)]")
    )
    assert padded.report.totals.wavefronts == promised["__shared__ float tile[32][32 + 1];"]
    assert xored.report.totals.wavefronts == promised["tile[row][column ^ (row & 31)]"]
    assert (padded.arrays[0] == square().T).all() and (xored.arrays[0] == square().T).all()
    for mended in (padded, xored):
        assert not mended.layouts[0].best and not mended.worst
        assert "every line takes the least wavefronts possible" in repr(mended)
        assert "nothing to gain from another layout" in " ".join(repr(mended).split())


def test_a_stride_and_a_misaligned_start_in_global_memory_are_named():
    source = "__global__ void kernel(float* out, const float* in) {\n  int t = threadIdx.x;\n  out[t] = in[8 * t];\n}"
    shown = lab.simulate(source, grid=1, block=32, args=[np.zeros(32, np.float32), np.ones(256, np.float32)])
    (line,) = shown.worst
    assert (line.number, line.sectors, line.least_sectors) == (3, 36, 8)
    assert "Neighbouring lanes are 32 bytes apart, so the 128 bytes of a warp lie in 32 sectors" in _flat(shown)
    shown = lab.simulate(
        source.replace("8 * t", "t + 1"), grid=1, block=32, args=[np.zeros(32, np.float32), np.ones(33, np.float32)]
    )
    assert "The 128 bytes of a warp begin 4 bytes after a multiple of 32, so they touch 5 sectors" in _flat(shown)
    shown = lab.simulate(
        source.replace("8 * t", "0"), grid=1, block=32, args=[np.zeros(32, np.float32), np.ones(1, np.float32)]
    )
    assert not shown.worst and sum(line.sectors for line in shown.lines) == 5, "one place for all lanes is one sector"


def _flat(shown) -> str:
    return " ".join(repr(shown).split())


def test_an_array_of_another_type_is_refused_and_not_called_right():
    source = "__global__ void add(float* a, float* b) { a[threadIdx.x] += b[threadIdx.x]; }"
    for wrong in (np.ones(8), np.ones(8, np.int64)):
        told = lab.simulate(source, block=8, args=[np.ones(8, np.float32), wrong])
        assert "✗" in repr(told) and f"args[1] is an array of {wrong.dtype}" in repr(told)
        assert "b = b.astype(np.float32)" in repr(told) and "ran on the simulator" not in told._repr_html_()


def test_a_race_is_shown_with_its_severity():
    shown = transposed(TRANSPOSE.replace("  __syncthreads();\n", "\n"))
    assert [hazard.severity for hazard in shown.hazards] == ["race"]
    assert repr(shown).startswith("✗ transpose") and "race: source.cu:6" in repr(shown)
    assert "race: source.cu:6" in shown._repr_html_()


def test_a_file_with_host_code_and_dynamic_memory(tmp_path):
    file = tmp_path / "mine.cu"
    file.write_text(
        "#include <cstdio>\n"
        "__global__ void scale(float* p, float by) { extern __shared__ float s[]; s[threadIdx.x] = p[threadIdx.x];\n"
        "  __syncthreads(); p[threadIdx.x] = by * s[threadIdx.x]; }\n"
        'int main() { std::printf("not run"); }\n'
    )
    for path in (file, str(file)):
        data = np.ones(64, np.float32)
        shown = lab.simulate(path, "scale", 1, 64, [data, 3], dynamic_smem_bytes=256)
        assert (data == 3).all() and [line.number for line in shown.lines] == [2, 3]
        assert "256 B a block" in repr(shown)


def test_arrays_in_structs_are_shown_by_their_place():
    source = "struct View { const float* from; float* to; }; __global__ void k(View v) { v.to[0] = 2 * v.from[1]; }"
    to = np.zeros(2, np.float32)
    shown = lab.simulate(source, args=[(np.ones(2, np.float32), to)])
    assert to[0] == 2 and len(shown.arrays) == 2 and "0.1" in repr(shown) and "0.1" in shown._repr_html_()


def test_rows_can_be_given_for_an_array_without_them():
    source = TRANSPOSE.replace("tile[32][32]", "tile[1024]").replace("tile[r][x]", "tile[32 * r + x]")
    source = source.replace("tile[x][r]", "tile[32 * x + r]")
    codes = [trial.layout.code for trial in transposed(source, rows={"tile": 32}).layouts[0].best]
    assert codes[:2] == ["tile[i ^ ((i >> 5) & 31)]", "tile[i + i / 32]"]


def test_a_kernel_that_is_given_as_ptx_has_the_lines_of_its_ptx():
    from gpu_simulator.simulating import compiled_kernel

    ptx = compiled_kernel(TRANSPOSE).program.ptx
    shown = transposed(ptx)
    assert sum(line.wavefronts for line in shown.lines) == 1056 and "ld.shared" in shown.worst[0].text
    assert "sectors 256, least 256" in repr(shown) and shown.layouts[0].best[0].total == 64


WAITS = """__global__ void kernel(int* p) {
  __shared__ unsigned long long bar;
  unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 2;" :: "r"(at));
  __syncthreads();
  asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L; }" :: "r"(at));
}"""


@pytest.mark.parametrize(
    "kind, words, call",
    [
        (LaunchError, "transpose takes 2 arguments, not 1", {"args": [square()]}),
        (LaunchError, "argument 1 is a list", {"args": [square(), [1.0]]}),
        (LaunchError, "argument 0 is a str", {"args": ["x", 1]}),
        (ConfigError, "args is a list with one item for each parameter", {"args": square()}),
        (ConfigError, "It has transpose.", {"kernel": "other"}),
        (ConfigError, "Did you mean transpose?", {"kernel": "transpoes"}),
        (LaunchError, "positive whole numbers, not (1, 0)", {"grid": (1, 0)}),
        (LaunchError, "1,025 threads", {"block": 1025}),
        (MemoryFault, "past the end of out", {"args": [np.zeros(9, np.float32), square()]}),
        (CompileError, "source.cu, line 4: error: identifier", {"source": TRANSPOSE.replace("= in[r", "= inn[r")}),
        (ConfigError, "Say which kernel of source.cu to run:\n  transpose(", {"source": TRANSPOSE + "__global__ void other() {}"}),
        (ConfigError, "has no kernel", {"source": "int f() { return 1; }"}),
        (ConfigError, "cannot be read", {"source": "nowhere.cu"}),
        (ConfigError, "the path of its file, not 5", {"source": 5}),
        (ConfigError, "dynamic_smem_bytes must be a whole number", {"dynamic_smem_bytes": "x"}),
        (ConfigError, "hazards must be True or False", {"hazards": "no"}),
        (ConfigError, "include is a list of folders", {"include": 5}),
        (ConfigError, "defines is a dict", {"defines": "A=1"}),
        (ConfigError, "std is a C++ standard such as 'c++20', not 20", {"std": 20}),
        (ConfigError, "There is no C++ standard 'c++98'", {"std": "c++98"}),
        (ConfigError, "The kernel is named by a text", {"kernel": 3}),
        (ConfigError, "Write grid=…, block=… and args=… with their names", {"kernel": (2, 2)}),
        (ConfigError, "the shared arrays are tile", {"rows": {"tiel": 32}}),
        (ConfigError, "a positive whole number of elements, not 0", {"rows": {"tile": 0}}),
        (ConfigError, "rows is a dict", {"rows": 32}),
        (Deadlock, "source.cu:6", {"source": WAITS, "args": [np.zeros(1, np.int32)], "block": 32, "arch": "sm_90a"}),
        (BudgetExceeded, "processor time", {"source": "__global__ void spin(volatile int* p) { while (!*p); }", "args": [np.zeros(1, np.int32)], "max_seconds": 0.3}),
    ],
)  # fmt: skip
def test_an_error_is_a_sentence_on_a_card_and_the_notebook_goes_on(kind, words, call):
    given = {"source": TRANSPOSE, "grid": 1, "block": (32, 8), "args": [square(), square()], **call}
    shown = lab.simulate(given.pop("source"), **given)
    assert type(shown.error) is kind and words in str(shown.error)
    assert repr(shown).startswith(f"✗ {kind.__name__}: ") and words in repr(shown)
    assert "✗" in shown._repr_html_()
    for name in ("report", "arrays", "lines", "layouts", "hazards", "worst", "output"):
        with pytest.raises(kind):
            getattr(shown, name)


def test_a_compile_error_marks_the_word_on_its_card():
    page = transposed(TRANSPOSE.replace("= in[r", "= inn[r"))._repr_html_()
    assert "source.cu, line 4" in page and ">inn</mark>" in page


def test_copies_of_tma_are_left_as_they_are_and_said_to_be():
    from gpu_simulator.hardware.tensor_map import TensorMap

    source = """struct alignas(64) CUtensorMap { char bytes[128]; };
    __global__ void load(const __grid_constant__ CUtensorMap map, float* out) {
      __shared__ __align__(128) float tile[32][32];
      __shared__ unsigned long long bar;
      unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(tile);
      int t = threadIdx.x;
      if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" :: "r"(at));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];"
                     :: "r"(to), "l"(&map), "r"(at) : "memory");
      }
      __syncthreads();
      asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L; }" :: "r"(at) : "memory");
      for (int c = 0; c < 32; c++) out[32 * c + t] = tile[t][c];
    }"""
    out = np.zeros((32, 32), np.float32)
    shown = lab.simulate(
        source, grid=1, block=32, args=[TensorMap.of(square(), (32, 32)), out], arch="sm_90a", hazards=False
    )
    assert (out == square().T).all()
    (study,) = shown.layouts
    assert study.excess > 0 and not study.best
    assert "bulk copies (TMA) address it by a layout of their own" in _flat(shown)


def test_a_variable_of_the_module_is_given_by_name_or_named_as_unset():
    source = "__constant__ float weight[2];\n__global__ void k(float* o) { o[threadIdx.x] = weight[threadIdx.x & 1]; }"
    weight = np.array([3, 5], np.float32)
    made = lab.simulate(source, block=2, args=[np.zeros(2, np.float32)], symbols={"weight": weight})
    assert made.arrays[0].tolist() == [3, 5] and not made.hazards
    (hazard,) = lab.simulate(source, block=2, args=[np.zeros(2, np.float32)]).hazards
    assert "reads weight, which is zeros here" in str(hazard)
    assert "reads weight" in repr(lab.simulate(source, block=2, args=[np.zeros(2, np.float32)], hazards=False))
    assert "symbols is a dict" in str(lab.simulate(source, block=2, args=[weight], symbols=["weight"]).error)


def test_an_output_may_begin_uninitialised():
    source = "__global__ void k(float* o) { if (threadIdx.x) o[threadIdx.x] = 1; else o[8] += 1; }"
    made = lab.simulate(source, block=2, args=[np.zeros(9, np.float32)], uninit=[0])
    (hazard,) = made.hazards
    assert "reads o[8], which nothing has written" in str(hazard)
    assert np.isnan(made.arrays[0][2:]).all() and "changed 2 of 9" in repr(made)
    assert "uninit is a list" in str(lab.simulate(source, block=2, args=[np.zeros(9, np.float32)], uninit="o").error)
