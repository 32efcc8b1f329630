"""CUTLASS and the algorithms of cuBLASLt as baselines: headers, builds, refusals, the choice of the fastest tile, and one real build."""

import re
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fake_cupy import FakeGpu, view

from gemm_lab.catalog import Problem
from gemm_lab.measure.bounds import bound, element_limits
from gemm_lab.measure.check import wire_problem
from gemm_results.errors import LabError
from gpu_runner import operations
from gpu_runner import support as support_module
from gpu_runner.baselines import cublas, cublaslt, cutlass, nvcc
from gpu_runner.driver import Device
from gpu_runner.timing import rounds as timing
from gpu_runner.timing.verify import Inputs
from gpu_simulator.errors import ConfigError, LaunchError, MissingDependency, SimulatorError, SizeError

WITH_C = ("a", "b", "c", "d", "m", "n", "k", "alpha", "beta")
SM75, SM80 = cutlass.FAMILIES["cutlass_sm75"], cutlass.FAMILIES["cutlass_sm80"]
T4 = Problem("D = αAB + βC", "f16", "f16", "f16", "row", "row", WITH_C)
AMPERE = Problem("D = AB", "bf16", "f32", "bf16", "row", "col", ("a", "b", "d", "m", "n", "k"))
FASTEST = "256x128x32 stages=2 threadblock_swizzle=4"


# ---- Headers ----


def package(folder, files):
    """A made-up installation of nvidia-cutlass, and its version."""
    info = folder / "nvidia_cutlass-4.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cutlass\nVersion: 4.9\n")
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_the_headers_are_where_the_package_lists_them(tmp_path, monkeypatch):
    package(tmp_path, ["some_folder/include/cute/tensor.hpp", "some_folder/include/cutlass/cutlass.h"])
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert cutlass.headers() == (tmp_path / "some_folder" / "include", "4.9")


def test_a_missing_package_or_header_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MissingDependency, match=r"pip install --editable '.\[cutlass\]'"):
        cutlass.headers()
    package(tmp_path, ["some_folder/readme.h"])
    with pytest.raises(MissingDependency, match="4.9 holds no cutlass/cutlass.h"):
        cutlass.headers()


# ---- What is built ----


@pytest.fixture
def headers(monkeypatch, tmp_path):
    monkeypatch.setattr(cutlass, "headers", lambda: (tmp_path, "4.9"))


def test_every_tile_is_one_build_with_the_problems_types_and_layouts(headers):
    made = cutlass.builds(SM75, wire_problem(T4), "sm_75")
    assert len(made) == 9 and {(64, 64, 32), (64, 256, 32), (256, 128, 32)} < {(t.m, t.n, t.k) for t in made}
    for tile, build in made.items():
        d = build.defines
        assert (d["BLOCK_M"], d["BLOCK_N"], d["BLOCK_K"], d["NUM_STAGES"]) == (tile.m, tile.n, tile.k, 2)
        assert (d["WARP_M"], d["WARP_N"], d["WARP_K"]) == tile.warp and d["ARCH"] == "Sm75"
        assert (d["MMA_M"], d["MMA_N"], d["MMA_K"]) == (16, 8, 8) and d["ELEMENT_ACC"] == "cutlass::half_t"
        assert (d["LAYOUT_A"], d["LAYOUT_B"], build.arch) == ("RowMajor", "RowMajor", "sm_75")
        assert build.source.is_file() and "4.9" in build.headers

    ampere = cutlass.builds(SM80, wire_problem(AMPERE), "sm_90a")
    large = cutlass.Tile(128, 128, 64, 4, (2, 2, 1))
    d = ampere[large].defines
    assert (d["ELEMENT"], d["ELEMENT_ACC"], d["LAYOUT_B"]) == ("cutlass::bfloat16_t", "float", "ColumnMajor")
    assert d["WARP_K"] == 64 and d["MMA_K"] == 16 and large.smem_bytes == 131072


def test_warps_divide_their_tile_also_along_k():
    halves = cutlass.Tile(64, 128, 64, 2, (1, 2, 2))
    assert halves in SM75.tiles and halves.warp == (64, 64, 32)
    for family in cutlass.FAMILIES.values():
        assert len({str(tile) for tile in family.tiles}) == len(family.tiles), "a tile's name is the key of its library"
        for tile in family.tiles:
            whole = (tile.m, tile.n, tile.k)
            assert all(side % warps == 0 for side, warps in zip(whole, tile.warps, strict=True))
            assert all(side % mma == 0 for side, mma in zip(tile.warp, family.mma, strict=True))


def test_both_lists_hold_what_cutlass_lists_by_itself():
    """Blocks and stages of generator.py in CUTLASS 4.2: GenerateSM75_TensorOp_1688, GenerateSM80_TensorOp_16816."""
    listed = {
        SM75: "256x128x32x2 128x256x32x2 128x128x32x2 64x256x32x2 256x64x32x2 64x128x32x2 128x64x32x2 64x64x32x2 64x128x64x2",
        SM80: "256x128x32x3 128x256x32x3 256x64x32x3 256x64x32x4 64x256x32x4 128x128x32x3 128x128x32x4 128x128x32x5 "
        "128x64x32x6 64x128x32x6 64x64x32x10 256x128x64x3 128x256x64x3 256x64x64x4 64x256x64x4 128x128x64x4 256x64x64x3 "
        "64x256x64x3 128x128x64x3 128x64x64x3 64x128x64x3 64x64x64x5",
    }
    for family, text in listed.items():
        assert set(text.split()) <= {f"{tile.m}x{tile.n}x{tile.k}x{tile.stages}" for tile in family.tiles}


def test_every_macro_is_one_that_the_source_reads(headers):
    (build, *_) = cutlass.builds(SM80, wire_problem(AMPERE), "sm_90a").values()
    source = build.source.read_text()
    assert [name for name in build.defines if source.replace(f"-D{name}=", "").count(name) < 1] == []


@pytest.mark.parametrize(
    "family, problem, size, capability, error, words",
    [
        (SM80, AMPERE, (64, 64, 64), (7, 5), LaunchError, "8.0 or newer; this one has 7.5"),
        (SM75, AMPERE, (64, 64, 64), (9, 0), ConfigError, "not bf16 with f32"),
        (SM75, T4, (64, 64, 60), (9, 0), SizeError, "K, along which A is contiguous.* multiple of 8; 60 is not, 64 is"),
        (SM75, T4, (64, 33, 64), (9, 0), SizeError, "N, along which B.*33 is not, 40 is"),
        (SM80, AMPERE, (64, 12, 64), (9, 0), SizeError, "N, along which D"),
    ],
)
def test_what_has_no_kernel_is_refused_with_a_sentence(family, problem, size, capability, error, words):
    with pytest.raises(error, match=words):
        cutlass.require(family, wire_problem(problem), *size, capability)


def test_partial_tiles_are_taken():
    cutlass.require(SM75, wire_problem(T4), 7, 8, 1096, (7, 5))
    cutlass.require(SM80, wire_problem(AMPERE), 1, 8, 8, (12, 0))


# ---- Which of them run ----


class FakeLibrary:
    """What a built library offers, in NumPy: a product that takes `milliseconds[width]` on the fake GPU's clock."""

    def __init__(self, cuda, what, milliseconds, code=0, spoil=lambda d: None):
        self.cuda, self.what, self.milliseconds, self.code, self.spoil = cuda, what, milliseconds, code, spoil
        self.calls = []

    def run(self, width, a, b, c, d, m, n, k, alpha, beta, stream):
        what = self.what
        self.calls.append((width, c, beta))
        if self.code:
            return self.code
        left = view(a, m * k, what.dtype_in).reshape(what.shape("a", m, n, k)).astype(np.float32)
        right = view(b, k * n, what.dtype_in).reshape(what.shape("b", m, n, k)).astype(np.float32)
        left, right = left if what.layout_a == "row" else left.T, right if what.layout_b == "row" else right.T
        out = view(d, m * n, what.dtype_out).reshape(m, n)
        old = beta * view(c, m * n, what.dtype_out).reshape(m, n).astype(np.float32) if beta else 0.0
        out[...] = alpha * (left @ right) + old
        self.spoil(out)
        self.cuda.clock += self.milliseconds[width]
        return 0

    def reason(self, code):
        return f"reason {code}".encode()


@pytest.fixture
def worker(monkeypatch, headers, tmp_path):
    """Build a worker whose libraries are `make(cuda, tile) -> FakeLibrary or the sentence of a failed build`."""
    monkeypatch.setattr(timing, "BURST_REST_S", 0.0)

    def build(make, **options):
        cuda = FakeGpu({}, **options)
        gpu = Device(cuda)
        monkeypatch.setattr(support_module, "build", lambda arch: b"\x7fELF")
        kit, blas, libraries, reports = support_module.Support(gpu), cublas.Blas(gpu), {}, []
        monkeypatch.setattr(operations, "device", lambda: gpu)
        monkeypatch.setattr(operations, "support", lambda: kit)
        monkeypatch.setattr(operations, "blas", lambda: blas)

        def shared_libraries(builds, compiler, report):
            made = {name: make(cuda, name) for name in builds}
            report("a tile", 1, len(builds))
            libraries.update({name: library for name, library in made.items() if not isinstance(library, str)})
            return {name: lib if isinstance(lib, str) else tmp_path / name for name, lib in made.items()}

        monkeypatch.setattr(nvcc, "find", lambda: tmp_path / "nvcc")
        monkeypatch.setattr(nvcc, "shared_libraries", shared_libraries)
        monkeypatch.setattr(cutlass, "load", lambda path: libraries[path.name])
        context = SimpleNamespace(
            progress=lambda **facts: reports.append(facts), running=lambda **facts: None, reports=reports
        )
        return SimpleNamespace(cuda=cuda, gpu=gpu, kit=kit, libraries=libraries, context=context)

    return build


def speeds(cuda, tile):
    """256×128 tiles with a threadblock swizzle of 4 are the fastest."""
    slow = 1.0 if tile.startswith("256") else 2.0
    return FakeLibrary(cuda, T4, {1: 3 * slow, 4: slow, 8: 2 * slow})


def bench(made, what=T4, size=(96, 64, 32), label="cutlass_sm75", rounds=3):
    alpha, beta = (2.0, -1.0) if what.uses_c else (1.0, 0.0)
    m, n, k = size
    entries = [{"label": name, "kind": name, "flops": 1e9} for name in ("cublas", label)]
    answer = operations.benchmark(
        made.context, problem=wire_problem(what), m=m, n=n, k=k, entries=entries, regime="burst", rounds=rounds,
        limits=element_limits(what, k, alpha), error_bounds={e["label"]: bound(what, k) for e in entries},
        alpha=alpha, beta=beta, seed=3,
    )  # fmt: skip
    base, found = answer["entries"]
    assert len(base["samples_ms"]) == rounds and made.cuda.used == 0, "the baseline beside it is timed whatever happens"
    return found


def test_the_fastest_configuration_is_checked_timed_and_named(worker):
    made = worker(speeds)
    found = bench(made)
    assert found["config"] == FASTEST and found["skipped"] is None and found["left_out"] == {}
    assert found["samples_ms"] == pytest.approx([1.0] * 3) and found["check"]["wrong"] == 0
    assert {width for library in made.libraries.values() for width, *_ in library.calls} == {1, 4, 8}
    assert any("building cutlass_sm75" in report.get("stage", "") for report in made.context.reports)


def test_a_wrong_product_is_not_timed(worker):
    made = worker(lambda cuda, tile: FakeLibrary(cuda, T4, {1: 1, 4: 1, 8: 1}, spoil=lambda d: d.fill(0)))
    found = bench(made)
    assert "not timed" in found["skipped"] and "wrong" in found["skipped"] and found["samples_ms"] == []


def test_a_product_that_is_not_written_is_not_timed(worker):
    made = worker(lambda cuda, tile: FakeLibrary(cuda, T4, {1: 1, 4: 1, 8: 1}, spoil=lambda d: d.fill(np.nan)))
    assert "NaN" in bench(made)["skipped"]


def test_a_tile_that_is_not_built_or_does_not_start_is_named_and_the_next_best_stands(worker):
    def make(cuda, tile):
        if tile.startswith("256"):
            return "nvcc did not build it: error: no"
        return speeds(cuda, tile) if tile.startswith("128x256") else FakeLibrary(cuda, T4, {}, code=98)

    found = bench(worker(make))
    assert found["config"] == "128x256x32 stages=2 threadblock_swizzle=4" and len(found["samples_ms"]) == 3
    assert found["left_out"]["256x128x32 stages=2"] == "nvcc did not build it: error: no"
    assert "reason 98" in found["left_out"]["128x128x32 stages=2 threadblock_swizzle=1"]
    built, others = sum(tile.m == 256 for tile in SM75.tiles), sum(tile.m < 256 for tile in SM75.tiles)
    assert len(found["left_out"]) == built + 3 * (others - 1)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda cuda, tile: "nvcc did not build it: error: no", "No tile of cutlass_sm75 can run here.*error: no"),
        (lambda cuda, tile: FakeLibrary(cuda, T4, {}, code=-7), "None of the candidates.*reason -7"),
    ],
)
def test_with_no_tile_left_the_baseline_is_absent_and_says_why(worker, make, words):
    found = bench(worker(make))
    assert found["samples_ms"] == []
    assert re.search(words, found["skipped"])


def test_a_missing_compiler_or_package_or_a_size_leaves_the_rest_of_the_run(worker, monkeypatch):
    assert "multiple of 8" in bench(worker(speeds), size=(96, 60, 32))["skipped"]
    made = worker(speeds)
    for module, name in ((nvcc, "find"), (cutlass, "headers")):

        def missing(name=name):
            raise MissingDependency(f"There is no {name}.")

        monkeypatch.setattr(module, name, missing)
        assert bench(made)["skipped"] == f"There is no {name}."


def test_a_tile_with_more_shared_memory_than_a_block_has_is_not_built(worker):
    made = worker(lambda cuda, tile: FakeLibrary(cuda, AMPERE, {1: 1, 4: 2, 8: 3}))
    made.cuda.attributes[97] = 101376  # an RTX 5090
    found = bench(made, AMPERE, label="cutlass_sm80")
    assert found["samples_ms"] and "128x256x32 stages=5" not in made.libraries
    assert "122,880 bytes" in found["left_out"]["128x256x32 stages=5"]
    assert set(made.libraries) == {str(tile) for tile in SM80.tiles if tile.smem_bytes <= 101376}
    assert "64x64x32 stages=10" in made.libraries and "128x256x64 stages=3" not in made.libraries


@pytest.mark.parametrize("what", [T4, AMPERE])
def test_c_is_read_only_where_the_problem_has_it(worker, what):
    made = worker(speeds)
    inputs = Inputs(made.gpu, made.kit, wire_problem(what), 16, 16, 16, kind="normal", seed=1)
    library = FakeLibrary(made.cuda, what, {4: 1.0})
    cutlass.call(library, 4, inputs, 2.0, -1.0)()
    expected = (inputs.c.address, -1.0) if what.uses_c else (inputs.d.address, 0.0)
    assert library.calls == [(4, *expected)]
    inputs.free()


def test_a_candidate_that_is_far_behind_gets_one_sample_and_no_more(worker):
    made, calls = worker(speeds), Counter()

    def taking(name, milliseconds):
        def start():
            calls[name] += 1
            made.cuda.clock += milliseconds

        return start

    tiles = {name: [taking(name, ms)] for name, ms in {"far": 9.0, "near": 8.2, "best": 8.0, "also": 8.9}.items()}
    tiles["far"] = [taking("far", 16.0)]
    assert timing.fastest(made.gpu, made.context, tiles, {}) == ["best"]
    assert calls["far"] < calls["near"] == calls["best"] == calls["also"]
    calls.clear()
    assert timing.fastest(made.gpu, made.context, tiles, {}, count=4)[-1] == "far", "unless so many are asked for"


def test_candidates_take_turns_so_that_a_falling_clock_favours_none(worker):
    made = worker(speeds)

    def slowing(base):
        def start():
            made.cuda.clock += base * (1 + made.cuda.clock / 100)

        return start

    tiles = {"late": [slowing(1.0)], "early": [slowing(1.05)]}
    for order in (tiles, dict(reversed(tiles.items()))):
        made.cuda.clock = 0.0
        assert timing.fastest(made.gpu, made.context, order, {}) == ["late"]


# ---- The algorithms of cuBLASLt ----


@pytest.fixture
def algorithms(worker, monkeypatch):
    """`bench` of cublaslt_best with algorithms that take so many milliseconds: None cannot be launched."""

    def run(milliseconds, spoil=lambda d: None):
        made, calls = worker(speeds), Counter()

        def candidates(device, problem, operands, m, n, k, alpha, beta, dtype_in, scratch, kind, scales):
            def call(name, takes, first, second, result):
                library = FakeLibrary(made.cuda, T4, {4: takes or 0}, code=0 if takes else 7, spoil=spoil)

                def start():
                    calls[name] += 1
                    where = (first.address, second.address, result.address, result.address)
                    if library.run(4, *where, m, n, k, alpha, beta, 0):
                        raise LabError(f"status {name}")

                return start

            return {name: [call(name, takes, *operand) for operand in operands] for name, takes in milliseconds.items()}

        monkeypatch.setattr(cublaslt, "candidates", candidates)
        return bench(made, label="cublaslt_best"), calls

    return run


def test_the_fastest_five_algorithms_are_timed_and_the_fastest_of_them_is_the_result(algorithms):
    found, calls = algorithms({"0": 4.0, "1": 2.0, "2": 9.0, "3": 1.0, "4": 8.0, "5": 3.0, "6": 7.0})
    assert found["config"] == "3" and found["samples_ms"] == pytest.approx([1.0] * 3) and found["skipped"] is None
    assert found["left_out"] == {} and min(calls[name] for name in "01356") > max(calls[name] for name in "24")


def test_the_first_of_the_heuristic_is_timed_even_if_the_trial_finds_others_faster(algorithms):
    _, calls = algorithms({"0": 9.0, "1": 2.0, "2": 3.0, "3": 1.0, "4": 4.0, "5": 5.0, "6": 8.0})
    assert calls["0"] > calls["6"] and min(calls[name] for name in "12345") > calls["6"]


def test_an_algorithm_that_cannot_be_launched_is_named(algorithms):
    found, _ = algorithms({"0": None, "1": 2.0})
    assert found["config"] == "1" and "status 0" in found["left_out"]["0"]


def test_an_algorithm_with_a_wrong_product_is_not_timed(algorithms):
    found, _ = algorithms({"0": 2.0}, spoil=lambda d: d.fill(0))
    assert "not timed" in found["skipped"] and found["samples_ms"] == []


# ---- The real compiler ----


def installed():
    try:
        return cutlass.headers() and nvcc.find()
    except SimulatorError:
        return None


@pytest.mark.skipif(not installed(), reason="takes nvcc and the extra cutlass")
def test_one_tile_builds_and_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path))
    build = cutlass.builds(SM75, wire_problem(T4), "sm_75")[cutlass.Tile(128, 128, 32, 2, (2, 2, 1))]
    library = cutlass.load(nvcc.shared_library(build, nvcc.find()))
    code = library.run(1, None, None, None, None, 128, 128, 128, 1.0, 0.0, None)
    assert code == 0 or library.reason(code), "with no GPU or another one the runtime says so"
    assert Path(tmp_path / "libraries").is_dir()
