"""The ladders simt, t4, ampere and rtx5090 on the simulator: exact, counted, and wrong where they should be."""

import re

import ml_dtypes
import numpy as np
import pytest
from mutants import mutants

import gemm_lab as lab
import gpu_simulator
from gemm_lab import catalog, compiling
from gpu_simulator.codegen.program import program_of
from gpu_simulator.faults import SimulatedFault
from gpu_simulator.hardware.tensor_map import TensorMap

RUNGS = [name for name in catalog.kernels() if name.startswith(("simt/", "t4/", "ampere/", "rtx5090/"))]
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
T4 = [name for name in RUNGS if name.startswith("t4/")]
AMPERE = [name for name in RUNGS if name.startswith("ampere/")]
TMA = [name for name in RUNGS if name.startswith("rtx5090/")]


def compiled(name, **config):
    spec = catalog.kernel(name)
    return spec, compiling.compile(spec.source, config=spec.configure(**config), arch=spec.targets[0], name=name)


def run(name, m, n, k, kernel=None, config=None, **options):
    """(report, D, the exact result rounded to D's type) for small integers. kernel: PTX to run instead of the rung's."""
    spec, made = compiled(name, **config or {})
    problem, rng = spec.problem, np.random.default_rng(m + n + k)
    a, b, c = (rng.integers(-2, 3, shape).astype(DTYPES[problem.dtype_in]) for shape in ((m, k), (k, n), (m, n)))
    d = np.full((m, n), np.nan, DTYPES[problem.dtype_out])
    c = c.astype(d.dtype)
    stored_b = np.ascontiguousarray(b.T) if problem.layout_b == "col" else b
    values = {"a": a, "b": stored_b, "c": c, "d": d, "m": m, "n": n, "k": k, "alpha": 1.0, "beta": 0.5}
    for title, spec_of_map in problem.configured(spec.configure(**config or {})).tensor_maps:
        values[title] = TensorMap.of(values[spec_of_map.array], spec_of_map.box, spec_of_map.swizzle)
    report = gpu_simulator.launch(
        kernel or made,
        made.entry,
        spec.launch_grid(made.config, m, n, k, 3 if name.endswith("persistent") else 40),
        made.threads,
        [values[x] for x in problem.arguments],
        dynamic_smem_bytes=made.dynamic_smem,
        **options,
    )
    exact = a.astype(np.float32) @ b.astype(np.float32)
    if problem.uses_c:
        exact = exact + 0.5 * c.astype(np.float32)
    return report, d.astype(np.float32), exact.astype(d.dtype).astype(np.float32)


@pytest.mark.sampled(every=13)
@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize(
    "size",
    [(512, 256, 192), *(pytest.param(size, marks=pytest.mark.long) for size in ((256, 256, 256), (512, 512, 512)))],
)
def test_a_rung_is_exact(name, size):
    _, d, exact = run(name, *size)
    assert np.array_equal(d, exact)


@pytest.mark.parametrize("size", [(1, 1, 8), (130, 250, 40), (257, 129, 264)])
def test_tails(size):
    _, d, exact = run("ampere/11_any_size", *size)
    assert np.array_equal(d, exact)


@pytest.mark.sampled(every=4, first=1)
@pytest.mark.parametrize("name", T4 + AMPERE + TMA)
def test_conflict_degree_of_ldmatrix(name):
    degree = 8 if name.endswith(("hierarchical_tiling", "vectorized_copy", "02_cp_async")) else 1
    report, _, _ = run(name, 256, 256, 64)
    loads = [s for s in report.sites if s.opcode.startswith("ldmatrix")]
    assert loads and all(s.wavefronts == degree * s.ideal_wavefronts for s in loads)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", AMPERE[1:])
def test_conflict_degree_of_cp_async(name):
    """Rows of 144 bytes: every second one begins in the middle of a 32-byte sector, its copies are shifted by half of one.
    Rows of 64 bytes: a warp copies from eight 128-byte lines, which takes eight wavefronts where four could move as much."""
    row_bytes = 2 * catalog.kernel(name).configure()["BLOCK_K"]
    degree = 2.625 if name == "ampere/03_padded" else 128 / row_bytes
    report, _, _ = run(name, 256, 256, 64)
    copies = [s for s in report.sites if s.opcode.startswith("cp.async.cg") and s.sectors]  # not of zeros past K
    ideal = sum(s.ideal_wavefronts for s in copies)
    assert ideal and sum(s.wavefronts for s in copies) == degree * ideal


@pytest.mark.parametrize(
    "config",
    [
        {"BLOCK_K": 16},
        {"NUM_STAGES": 2},
        {"BLOCK_K": 32, "NUM_STAGES": 6},
        {"BLOCK_N": 256, "BLOCK_K": 32, "NUM_WARPS_N": 4, "NUM_STAGES": 4},
        {"BLOCK_M": 64, "NUM_WARPS_M": 1},
    ],
)
def test_multistage_with_other_tiles(config):
    """Rows of 32, 64 and 128 bytes under one swizzle, as many stages as fit, K shorter than the pipeline."""
    for k in (64, 256):
        report, d, exact = run("ampere/07_multistage", 256, 256, k, config=config)
        assert np.array_equal(d, exact)
    loads = [s for s in report.sites if s.opcode.startswith("ldmatrix")]
    assert all(s.wavefronts == s.ideal_wavefronts for s in loads)


@pytest.mark.sampled(every=15)
@pytest.mark.parametrize("name", T4 + AMPERE + TMA)
def test_a_deleted_mma_changes_the_answer(name):
    _, made = compiled(name)
    found = list(re.finditer(r"^\s*mma\.sync[^;]*;", made.ptx, re.M))
    middle = found[len(found) // 2]
    broken = made.ptx[: middle.start()] + made.ptx[middle.end() :]
    report, d, exact = run(name, 256, 256, 128, kernel=broken)
    assert not np.array_equal(d, exact)


def small(name) -> tuple[int, int, int]:
    """M, N, K of a tile of D or a few, and k tiles enough that every buffer in shared memory is used twice."""
    if name.endswith("any_size"):
        return 120, 251, 200
    sizes = {
        "simt": (128, 128, 64),
        "t4": (256, 256, 128),
        "ampere": (128, 256, 128 if name < "ampere/06" else 256),
        "rtx5090": (128, 512, 448),
    }
    return sizes[name.split("/")[0]]


# Left out without harm: the last __syncwarp() of a staged epilogue, after which no further rows come; and the barrier before
# such an epilogue, where the main loop's last barrier already came after every ldmatrix.
EQUIVALENT = {
    "t4/07_staged_epilogue": ["bar.warp.sync"],
    "t4/08_pipelined_fragments": ["bar.warp.sync"],
    "ampere/10_steady_addresses": ["bar.warp.sync"],
    "ampere/11_any_size": ["bar.warp.sync"],
    "rtx5090/01_tma": ["bar.warp.sync"],
    "rtx5090/02_producer_warp": ["bar.warp.sync"],
}
# A hazard that leaves the answer right: without the last wait, zeros past K may land on rows of D that are staged there; in
# late timing they land after these were read.
RIGHT = {"ampere/11_any_size": ["cp.async.wait_group"]}


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in RUNGS if n not in ("simt/01_naive", "simt/02_coalesced")])
def test_clean_rungs_have_no_hazard_and_every_mutant_is_caught(name):
    ptx = compiled(name)[1].ptx
    for timing in ("early", "late") if "cp.async" in ptx else ("early",):
        report, d, exact = run(name, *small(name), observers=("hazards",), timing=timing)
        assert report.hazards == [] and np.array_equal(d, exact)
    broken, missed, right = list(mutants(ptx)), [], []
    assert broken
    for mutant in broken:
        what = mutant.statement.split()[0]
        try:
            report, d, _ = run(
                name, *small(name), kernel=mutant.ptx, observers=("hazards",), timing="late", max_instructions=10**7
            )
        except SimulatedFault:  # a barrier that is not there, a wait that never ends
            continue
        if not report.hazards:
            missed.append(what)
        if what.startswith("cp.async") and np.array_equal(d, exact):
            right.append(what)
    assert missed == EQUIVALENT.get(name, [])
    assert right == RIGHT.get(name, [])  # a tile that is read before it is there gives a wrong answer


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", AMPERE[1:])
def test_a_wait_for_one_group_too_few_gives_a_wrong_answer(name):
    broken, changed = re.subn(r"wait_group (\d);", lambda m: f"wait_group {int(m[1]) + 1};", compiled(name)[1].ptx)
    assert changed
    _, d, exact = run(name, *small(name), kernel=broken, timing="late")
    assert not np.array_equal(d, exact)


def test_lines_of_the_learners_file():
    report, _, _ = run("t4/02_vectorized_copy", 256, 128, 64)
    lines = report.lines("02_vectorized_copy.cu")
    source = catalog.kernel("t4/02_vectorized_copy").source.splitlines()
    worst = max(lines, key=lambda line: lines[line].wavefronts)
    assert "ldmatrix" in source[worst - 1] and lines[worst].conflict_degree == 8
    assert sum(t.wavefronts for t in lines.values()) == report.totals.wavefronts


def test_kernels_that_write_first_are_not_followed():
    for name in (
        "t4/03",
        "ampere/07",
        "b200/03",
        "hopper/03",
    ):  # hopper/03 leaves only accumulators to the first product
        compiled = lab.kernel(name).compile_as_taught()
        assert not program_of(compiled.ptx, compiled.entry).unwritten.places
