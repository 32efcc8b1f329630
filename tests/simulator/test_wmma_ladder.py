"""The wmma ladder on the simulator: every entry exact, every source free of hazards and each broken one caught."""

import numpy as np
import pytest
from mutants import mutants

import gpu_simulator
from gemm_lab import catalog, compiling
from gpu_simulator.errors import SizeError
from gpu_simulator.hardware.number_types import dtype_of

LADDER = catalog.ladder("wmma").kernels
ARCH = "sm_90a"


def spec_of(name):
    return catalog.kernel(f"wmma/{name}")


def compiled(spec, **settings):
    file = f"wmma/{spec.path.stem}"
    return compiling.compile(spec.source, config=spec.configure(**settings), arch=ARCH, name=file)


def size_of(spec, tiles=(1, 1, 2), **settings):
    steps = spec.size_multiples(spec.configure(**settings))
    return [steps[axis] * count for axis, count in zip("mnk", tiles, strict=True)]


def run(spec, m, n, k, kernel=None, a=None, settings=None, **options):
    """(report, D, the exact result) for small integers, or for a given A."""
    settings = settings or {}
    made, config, rng = compiled(spec, **settings), spec.configure(**settings), np.random.default_rng(m + n + k)
    a = rng.integers(-3, 4, (m, k)).astype(np.float32) if a is None else a
    b = rng.integers(-3, 4, (k, n)).astype(np.float32)
    d = np.full((m, n), np.nan, np.float32)
    report = gpu_simulator.launch(
        kernel or made,
        made.entry,
        spec.launch_grid(config, m, n, k, 132),
        made.threads,
        [a, b, d, m, n, k],
        dynamic_smem_bytes=made.dynamic_smem,
        **options,
    )
    return report, d, a.astype(dtype_of(spec.problem.multiplied)).astype(np.float32) @ b


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("spec", LADDER, ids=lambda s: s.short)
@pytest.mark.parametrize("tiles", [(1, 1, 1), (2, 1, 3)])
def test_every_entry_is_exact(spec, tiles):
    report, d, exact = run(spec, *size_of(spec, tiles))
    assert np.array_equal(d, exact)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "name", ["wmma_opt_bf16_v3", "wmma_v3", "stage3_bf16", "async_bf16", "swizzle_bf16", "best_wmma"]
)
def test_inputs_are_rounded_to_nearest_even(name):
    """Ties and values just beside them, where cutting off the lower bits would show."""
    spec = spec_of(name)
    m, n, k = size_of(spec)
    bits = 8 if spec.problem.multiplied == "bf16" else 11
    ties = 1 + (2 * np.arange(16) + 1) * 2.0**-bits
    a = np.random.default_rng(1).choice(np.concatenate([ties, ties - 2.0**-20, ties + 2.0**-20]), (m, k))
    _, d, _ = run(spec, m, n, k, a=a.astype(np.float32))
    b = np.random.default_rng(m + n + k).integers(-3, 4, (k, n)).astype(np.float64)
    rounded = a.astype(np.float32).astype(dtype_of(spec.problem.multiplied)).astype(np.float64)
    assert np.abs(d - rounded @ b).max() < 1e-4 < np.abs(a @ b - rounded @ b).max()


@pytest.mark.parametrize("spec", LADDER, ids=lambda s: s.short)
def test_a_refused_size_names_the_nearest_that_works(spec):
    config, (m, n, k) = spec.configure(), size_of(spec)
    spec.require_size(config, 4096, 4096, 4096)
    for wrong, axis, right in (((m + 1, n, k), "M", m), ((m, n + 8, k), "N", n), ((m, n, k - 1), "K", k)):
        with pytest.raises(SizeError, match=f"{axis} = {right}"):
            spec.require_size(config, *wrong)


SOURCES = list({spec.path: spec for spec in reversed(LADDER)}.values())


@pytest.mark.sampled(every=3, first=1)
@pytest.mark.parametrize("spec", SOURCES, ids=lambda s: s.path.stem)
def test_a_source_has_no_hazard_and_every_mutant_is_caught(spec):
    size = size_of(spec, (1, 1, 5))
    for timing in ("early", "late"):
        report, d, exact = run(spec, *size, observers=("hazards",), timing=timing)
        assert report.hazards == [] and np.array_equal(d, exact)
    broken = list(mutants(compiled(spec).ptx))
    assert broken
    missed = [x.statement for x in broken if not run(spec, *size, kernel=x.ptx, observers=("hazards",))[0].hazards]
    assert missed == []


def conflicts(report, *opcodes):
    """(wavefronts, ideal wavefronts) of the shared accesses whose PTX opcode begins so."""
    sites = [s for s in report.sites if s.opcode.startswith(opcodes) and s.ideal_wavefronts]
    return sum(s.wavefronts for s in sites), sum(s.ideal_wavefronts for s in sites)


def test_the_swizzle_leaves_no_conflict_and_no_byte():
    spec = spec_of("swizzle_bf16")
    assert spec.configure()["PADDING"] == 0
    report, _, _ = run(spec, *size_of(spec))
    assert report.totals.conflict_degree == 1
    without, _, _ = run(spec, *size_of(spec), settings={"SWIZZLE": 0})
    wavefronts, ideal = conflicts(without, "ldmatrix")
    assert wavefronts > 2 * ideal
    padded, _, _ = run(spec_of("mma_bf16"), *size_of(spec))
    assert conflicts(padded, "ldmatrix")[0] == conflicts(padded, "ldmatrix")[1] and padded.totals.conflict_degree > 1


def test_padding_saves_the_fragments_of_wmma():
    spec = spec_of("wmma_opt_bf16_v3")
    degree = {}
    for padding in (0, 8):
        report, _, _ = run(spec, *size_of(spec), settings={"PADDING": padding})
        wavefronts, ideal = conflicts(report, "wmma.load")
        degree[padding] = wavefronts / ideal
    assert degree[8] == 1 and degree[0] == 8


def test_the_best_has_no_conflict():
    spec = spec_of("best_wmma")
    report, _, _ = run(spec, *size_of(spec))
    assert report.totals.conflict_degree == 1
