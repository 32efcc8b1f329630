"""Kernel, Run, Ladder as a learner meets them, without a GPU."""

import re
import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import gemm_lab as lab
import gpu_runner as device
from gemm_lab import catalog
from gemm_lab.lab import on_simulator, operands
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError, LaunchError, SimulatorError, SizeError
from gpu_simulator.hardware.number_types import dtype_of

needs_no_gpu = pytest.mark.skipif(device.available(), reason="says what happens without a GPU")


def test_a_kernel_shows_itself():
    k = lab.kernel("t4/03")
    page = k._repr_html_()
    assert "XOR" in repr(k) and "BLOCK_K" in page and "warp 7" in page and "what changes against t4/02" in page


def test_settings_make_a_new_kernel():
    k = lab.kernel("t4/02")
    small = k(BLOCK_M=128, BLOCK_N=64)
    assert k.config["BLOCK_M"] == 256 and small.config["BLOCK_M"] == 128
    assert "BLOCK_M=128" in small.label
    assert small.compile().smem == (128 + 64) * 64 * 2
    with pytest.raises(ConfigError, match="BLOCK_M"):
        k(BLOCKM=1)


def test_a_run_tells_what_the_compiler_warns_of():
    k, names = lab.kernel("t4/03"), [f"unused_{number}" for number in range(4)]
    text = "".join(f"    int {name} = 3;\n" for name in names) + k.regions["multiply"]
    run = k.edit(multiply=text).run(256, timed=False, backend="simulator")
    for shown in (repr(run), run._repr_html_()):
        assert "cell, line 1: the compiler warns: variable" in shown and names[2] in shown and names[3] not in shown
        assert "… 1 more, in .compiled.warnings" in shown
    assert run.passed and "warns" not in repr(k.run(256, timed=False, backend="simulator"))


def test_an_edit_is_a_new_kernel_and_shows_in_source_and_diff():
    k = lab.kernel("t4/03")
    edited = k.edit(layout=k.regions["layout"].replace("row % 8", "row % 4"))
    assert "row % 4" in edited.source and "row % 4" not in k.source and "#line" not in edited.source
    assert edited.diff().count == 2 and edited.edited and not k.edited
    assert edited.compile().key != k.compile().key
    with pytest.raises(ConfigError, match="“layout”"):
        k.edit(lay="x")


def test_the_diff_of_a_rung_is_against_the_rung_it_extends():
    changed = lab.kernel("t4/03").diff()
    assert changed.before.startswith("t4/02") and changed.count <= 4
    assert any("chunk ^ row % 8" in line for line in changed.lines if line.startswith("+"))
    with pytest.raises(LabError, match="first rung"):
        lab.kernel("simt/01").diff()


def test_sass_of_a_line():
    k = lab.kernel("t4/03")
    line = next(i for i, text in enumerate(k.source.split("\n"), 1) if "mma_m16n8k8_f16(acc" in text)
    shown = k.sass(line=line, arch="sm_75")
    assert shown.mix["HMMA"] == 256 and "HMMA.1688.F16" in repr(shown)  # some compilers put more on that line
    with pytest.raises(LabError, match="nearest line"):
        k.sass(line=1)


def test_an_architecture_outside_the_targets_is_refused():
    with pytest.raises(ConfigError, match="sm_75"):
        lab.kernel("t4/03").compile("sm_70")


def test_occupancy_on_a_named_gpu():
    on_t4 = lab.kernel("t4/03").occupancy(on="T4")
    assert on_t4.blocks == 1 and on_t4.binding == "shared memory and registers"


@needs_no_gpu
def test_run_without_a_gpu_is_simulated_checked_and_counted():
    run = lab.kernel("t4/02").run(256)
    assert run.backend == "simulator" and run.passed and "exact" in run.message
    assert run.wavefronts > run.ideal_wavefronts > 0 and run.tflops is None
    assert "on the simulator" in repr(run) and "what each line costs" in run._repr_html_()
    with pytest.raises(SizeError):
        lab.kernel("t4/03").run(100)


def test_a_wrong_kernel_fails_on_the_simulator():
    k = lab.kernel("t4/03")
    wrong = k.edit(layout=k.regions["layout"].replace("(chunk ^ row % 8)", "(chunk ^ row % 8) / 2", 1))
    run = wrong.run(256, backend="simulator")
    assert run.passed is False and "elements are wrong" in run.message and run.as_dict()["error"]


def test_hot_lines_find_the_conflict_at_the_learners_line():
    k = lab.kernel("t4/02")
    run = k.run(256, backend="simulator")
    by_text = {line.text.strip().split("(")[0]: line for line in run.hot_lines().lines if line.wavefronts}
    assert by_text["ldmatrix_x4"].degree == by_text["ldmatrix_x4_trans"].degree == 8.0
    assert lab.kernel("t4/03").run(256, backend="simulator").conflict_degree == 1.0
    edited = k.edit(multiply="\n\n" + k.regions["multiply"], first_line=2)
    moved = {
        line.text.strip().split("(")[0]: line
        for line in edited.run(256, backend="simulator").hot_lines().lines
        if line.wavefronts
    }
    assert moved["ldmatrix_x4"].file == "cell"
    first = k.spec.regions["multiply"].first_line
    assert moved["ldmatrix_x4"].number == by_text["ldmatrix_x4"].number - first + 2 + 2


def test_a_long_simulation_has_to_be_meant():
    with pytest.raises(LabError, match="minutes on the simulator"):
        lab.kernel("simt/01").run(8192, backend="simulator")


def test_an_endless_kernel_stops_at_its_budget_and_names_the_line():
    k = lab.kernel("simt/02")
    endless = k.edit(
        first_line=2, multiply="  float acc = 0.0f;\n  volatile int again = 1;\n  while (again) acc += 1.0f;"
    )
    with pytest.raises(SimulatorError, match="spins at .*cell:4"):
        endless.run(32, backend="simulator")


def test_one_spinning_thread_is_stopped_by_the_steps_of_the_simulator(monkeypatch):

    monkeypatch.setattr(on_simulator, "MARGIN", 1)
    k = lab.kernel("simt/02")
    text = k.regions["multiply"] + "\n  volatile int again = row == 0 && col == 0;\n  while (again) acc += 0.0f;"
    with pytest.raises(SimulatorError, match="steps of the simulator; it spins at .*cell"):
        k.edit(first_line=2, multiply=text).run(256, backend="simulator")


def test_gemm_runs_on_the_simulator():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((256, 64)).astype(np.float16), rng.standard_normal((64, 128)).astype(np.float16)
    c = rng.standard_normal((256, 128)).astype(np.float16)
    d = lab.kernel("t4/03").gemm(a, b, c, alpha=0.5, beta=2.0)
    exact = 0.5 * a.astype(float) @ b.astype(float) + 2.0 * c.astype(float)
    assert d.dtype == np.float16 and np.abs(d - exact).max() < 0.05


def test_gemm_gives_back_what_it_was_given():
    torch = pytest.importorskip("torch")
    bf16, f16 = lab.kernel("ampere/11_any_size"), lab.kernel("t4/03")
    a, b = torch.randn(40, 64, dtype=torch.bfloat16), torch.randn(64, 24, dtype=torch.bfloat16)
    d = bf16.gemm(a, b)
    assert d.dtype == torch.bfloat16 and torch.allclose(d.float(), a.float() @ b.float(), atol=0.2)
    ones = torch.ones(256, 64, dtype=torch.float16), torch.ones(64, 128, dtype=torch.float16)
    assert torch.equal(f16.gemm(*ones), torch.full((256, 128), 64.0, dtype=torch.float16))
    assert isinstance(f16.gemm(*(one.numpy() for one in ones)), np.ndarray)
    with pytest.raises(ConfigError, match=r"A is float32; .*: A\.to\(torch\.bfloat16\)\."):
        bf16.gemm(a.float(), b)
    with pytest.raises(ConfigError, match=r"B\.to\(torch\.float16\)\."):
        f16.gemm(ones[0], ones[1].double())


def test_gemm_gives_cupy_back(monkeypatch):
    class Array:
        """Of CuPy, as far as `gemm` looks at it."""

        device = nullcontext()

        def __init__(self, values):
            self.values = values

        def get(self):
            return self.values

    Array.__module__ = "cupy"
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=Array))
    ones = np.ones((32, 32), np.float32)
    d = lab.kernel("simt/01_naive").gemm(Array(ones), Array(ones))
    assert isinstance(d, Array) and np.array_equal(d.get(), 32 * ones)


FEW = "float* gmem_d, int M, int N, int K"


@pytest.mark.parametrize("use", ["run", "predict", "timeline", "gemm"])
@pytest.mark.parametrize("bounds", ["", "__launch_bounds__(256) "])
def test_a_source_with_another_signature_is_told_the_right_one(use, bounds):
    ones = [np.ones((32, 32), np.float32)] * 2 if use == "gemm" else []
    mine = lab.kernel("simt/01_naive").rewrite(f'extern "C" __global__ void {bounds}gemm({FEW}) {{}}')
    with pytest.raises(LaunchError, match=r"gemm\(const float\* gmem_a, const float\* gmem_b, " + re.escape(FEW)):
        getattr(mine, use)(*ones)


def test_texts_without_the_name_of_their_region_are_told_how_to_give_it():
    k = lab.kernel("t4/03_swizzled")
    for wrong in (("layout", "int x;"), ("layout",), ("int x;",)):
        with pytest.raises(ConfigError, match=r'edit\(\w+="…"\)'):
            k.edit(*wrong)
    with pytest.raises(ConfigError, match=r'edit\(layout="…"\)'):
        k.edit("int x;", "layout")
    with pytest.raises(ConfigError, match="rewrite takes one text"):
        k.rewrite("layout", "int x;")


# ---- Operands ----


def test_arrays_of_torch_become_numpy():
    torch = pytest.importorskip("torch")
    values = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    assert np.array_equal(operands.as_numpy(values, "A"), values.numpy())
    brain = values.to(torch.bfloat16)
    assert operands.as_numpy(brain, "A").dtype == dtype_of("bf16")
    assert np.array_equal(operands.as_numpy(brain, "A").astype(np.float32), values.numpy())
    assert operands.as_numpy(values.T.requires_grad_(), "A").shape == (3, 2)
    assert np.array_equal(operands.as_numpy(torch._neg_view(values), "A"), -values.numpy())
    for odd in (values.to_sparse(), values.to("meta"), values.to(torch.float8_e4m3fnuz)):
        with pytest.raises(ConfigError, match="A cannot become a NumPy array: "):
            operands.as_numpy(odd, "A")


def test_a_masked_array_is_refused():
    with pytest.raises(ConfigError, match="B.filled"):
        operands.as_numpy(np.ma.masked_array([[1.0]], mask=[[True]]), "B")


@pytest.mark.parametrize(
    ("arrays", "error", "sentence"),
    [
        ((np.zeros((2, 3)), np.zeros((3, 2))), ConfigError, "astype"),
        ((np.zeros((2, 3), np.float32), np.zeros((4, 2), np.float32)), SizeError, "columns must equal"),
        ((np.zeros(3, np.float32), np.zeros((3, 2), np.float32)), SizeError, "a matrix has two"),
        (([[1.0]], np.zeros((1, 1), np.float32)), ConfigError, "NumPy, CuPy or torch"),
    ],
)
def test_wrong_operands_get_a_sentence(arrays, error, sentence):
    with pytest.raises(error, match=sentence):
        lab.kernel("simt/02").gemm(*arrays)


def test_alpha_and_beta_belong_to_problems_with_c():
    a = np.zeros((4, 4), np.float32)
    with pytest.raises(ConfigError, match="leave out"):
        lab.kernel("simt/02").gemm(a, a, alpha=2.0)
    h = np.zeros((256, 256), np.float16)
    with pytest.raises(ConfigError, match="C is needed"):
        lab.kernel("t4/02").gemm(h, h, beta=1.0)


def test_layouts():
    a = np.arange(6).reshape(2, 3)
    assert operands.stored(a, "row").tolist() == a.tolist()
    assert operands.stored(a, "col").tolist() == a.T.tolist()
    problem = catalog.kernel("t4/01").problem
    assert problem.shape("b", 2, 5, 3) == (3, 5) and problem.flops(2, 5, 3) == 60


# ---- Ladder ----


def test_a_ladder_lists_its_rungs():
    t4 = lab.ladder("t4")
    assert [k.name for k in t4][:3] == [k.name for k in t4.kernels][:3] and len(t4) >= 3
    assert "hierarchical" in repr(t4) and "t4/03_swizzled" in t4._repr_html_()


def test_a_bench_size_that_does_not_fit_is_refused_first():
    with pytest.raises(SizeError):
        lab.ladder("t4").bench([1000])


def test_recorded_rows_say_where_they_come_from():
    bench = lab.ladder("t4").recorded([4096])
    assert bench.recorded and "recorded on" in repr(bench) and "H200" in repr(bench)
    assert bench.ratio("t4/03", "t4/01", 4096) > 1
    with pytest.raises(LabError, match="recorded sizes are"):
        lab.ladder("t4").recorded([12345])
    with pytest.raises(LabError, match="no row"):
        bench.tflops("t4/99", 4096)


def test_a_bench_up_to_a_rung_leaves_out_those_above_it():
    bench = lab.ladder("t4").recorded([4096])
    first = bench.up_to("t4/02")
    left_out = {row.kernel for row in bench.rows} - {row.kernel for row in first.rows}
    assert left_out == {kernel.name for kernel in lab.ladder("t4").kernels[2:]}
    assert "t4/02_vectorized_copy" in repr(first) and "t4/03_swizzled" not in repr(first) and "cublas" in repr(first)
    assert first.plot(lit="t4/02_vectorized_copy") is not None and "t4/03_swizzled" in repr(bench)
    with pytest.raises(lab.LabError, match="simt/01_naive is no rung of the ladder t4; its rungs are t4/01"):
        bench.up_to("simt/01")
    with pytest.raises(lab.LabError, match="t4/99"):
        bench.up_to("t4/99")


def test_inspect_shows_a_line_of_one_warp():
    run = lab.kernel("t4/03").run(256, backend="simulator")
    shown = repr(run.inspect("load", block=1, warp=3))
    assert "smem" in shown or "shared" in shown
    line = next(i for i, text in enumerate(run.kernel.source.split("\n"), 1) if "ldmatrix_x4(frag_a" in text)
    accesses = run.trace(line, block=0, warp=2)
    assert len(accesses) == 2 * 8 * 256 // 64  # 2 of A in each of the 8 steps of a k tile, 4 k tiles
    with pytest.raises(ConfigError, match="has no region"):
        run.inspect("lode")
    with pytest.raises(ConfigError, match="nearest line"):
        run.inspect(1)


def test_long_work_says_once_that_it_goes_on(capsys, monkeypatch):
    with on_simulator.still_at_work("the whole", after_s=0.05), on_simulator.still_at_work("a part", after_s=0.05):
        time.sleep(0.3)
    with on_simulator.still_at_work("the next", after_s=5):
        pass
    assert capsys.readouterr().err.count("Still running") == 1
    monkeypatch.setattr(on_simulator, "WORD_S", 0.0)
    assert lab.kernel("simt/01").run(64, backend="simulator").passed
    assert "Still running: simt/01_naive at 64 × 64 × 64. The stop button" in capsys.readouterr().err


def test_a_setting_of_zero_is_said():
    for settings in ({"BLOCK_M": 0}, {"BLOCK_N": 0}):
        with pytest.raises(ConfigError, match="at least 1"):
            lab.kernel("simt/01")(**settings).run(64)
    with pytest.raises(ConfigError, match="at least 1"):
        lab.kernel("t4/03")(BLOCK_K=0).run(256)


def test_numbers_of_numpy_are_sizes_and_settings():
    kernel = lab.kernel("simt/01")(BLOCK_M=np.int64(16))
    assert type(kernel.config["BLOCK_M"]) is int
    assert kernel.run(np.int32(32), k=np.uint8(16), backend="simulator").passed


def test_a_place_and_a_warp_are_numbers():
    run = lab.kernel("simt/01").run(64, backend="simulator")
    for where, block, warp in ((None, 0, 0), (1.5, 0, 0), ("place", "x", 0), ("place", 0, None), ("place", (1,), 0)):
        with pytest.raises(ConfigError):
            run.inspect(where, block=block, warp=warp)
    assert run.inspect("place", block=(0, 1), warp=np.int64(1)) is not None
