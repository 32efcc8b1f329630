"""The ladders simt and t4 on the emulator: exact, counted, and wrong where they should be."""

import re

import numpy as np
import pytest

from gemm_lab import catalog, compiler, emulator
from gemm_lab.emulator.mutate import mutants

RUNGS = [name for name in catalog.kernels() if name.startswith(("simt/", "t4/"))]
DTYPES = {"f16": np.float16, "f32": np.float32}
T4 = [name for name in RUNGS if name.startswith("t4/")]


def compiled(name, arch="sm_75"):
    spec = catalog.kernel(name)
    return spec, compiler.compile(spec.source, config=spec.configure(), arch=arch, name=name)


def run(name, m, n, k, kernel=None, arch="sm_75", **options):
    """(report, D, the exact result) for small integers."""
    spec, made = compiled(name, arch)
    problem, rng = spec.problem, np.random.default_rng(m + n + k)
    a, b, c = (rng.integers(-2, 3, shape).astype(DTYPES[problem.dtype_in]) for shape in ((m, k), (k, n), (m, n)))
    d = np.full((m, n), np.nan, DTYPES[problem.dtype_out])
    c = c.astype(d.dtype)
    values = {"a": a, "b": b, "c": c, "d": d, "m": m, "n": n, "k": k, "alpha": 1.0, "beta": 0.5}
    report = emulator.launch(
        kernel or made,
        made.entry,
        spec.launch_grid(spec.configure(), m, n, k, 40),
        made.threads,
        [values[x] for x in problem.arguments],
        dynamic_smem_bytes=made.dynamic_smem,
        **options,
    )
    exact = a.astype(np.float32) @ b.astype(np.float32)
    if problem.uses_c:
        exact = exact + 0.5 * c.astype(np.float32)
    return report, d.astype(np.float32), exact


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("size", [(256, 256, 256), (512, 512, 512), (512, 256, 192)])
def test_a_rung_is_exact(name, size):
    _, d, exact = run(name, *size)
    assert np.array_equal(d, exact)


@pytest.mark.parametrize("name", T4)
def test_conflict_degree_of_ldmatrix(name):
    degree = 8 if name.endswith(("hierarchical_tiling", "vectorized_copy")) else 1
    report, _, _ = run(name, 256, 256, 64)
    loads = [s for s in report.sites if s.opcode.startswith("ldmatrix")]
    assert loads and all(s.wavefronts == degree * s.ideal_wavefronts for s in loads)


@pytest.mark.parametrize("name", T4)
def test_a_deleted_mma_changes_the_answer(name):
    _, made = compiled(name)
    found = list(re.finditer(r"^\s*mma\.sync[^;]*;", made.ptx, re.M))
    middle = found[len(found) // 2]
    broken = made.ptx[: middle.start()] + made.ptx[middle.end() :]
    report, d, exact = run(name, 256, 256, 128, kernel=broken)
    assert not np.array_equal(d, exact)


# Left out without harm: the last __syncwarp() of a staged epilogue, after which no further rows come.
EQUIVALENT = {"t4/07_staged_epilogue": ["bar.warp.sync"], "t4/08_pipelined_fragments": ["bar.warp.sync"]}


@pytest.mark.parametrize("name", [n for n in RUNGS if n.startswith("t4/") or "shared" in n or "register" in n])
def test_clean_rungs_have_no_hazard_and_every_mutant_is_caught(name):
    m, n, k = (256, 256, 128) if name.startswith("t4/") else (128, 128, 64)
    report, d, exact = run(name, m, n, k, hazards=True)
    assert report.hazards == [] and np.array_equal(d, exact)
    _, made = compiled(name)
    broken = list(mutants(made.ptx))
    assert broken
    missed = [x.statement.split()[0] for x in broken if not run(name, m, n, k, kernel=x.ptx, hazards=True)[0].hazards]
    assert missed == EQUIVALENT.get(name, [])


def test_lines_of_the_learners_file():
    report, _, _ = run("t4/02_vectorized_copy", 256, 128, 64)
    lines = report.lines("02_vectorized_copy.cu")
    source = catalog.kernel("t4/02_vectorized_copy").source.splitlines()
    worst = max(lines, key=lambda line: lines[line].wavefronts)
    assert "ldmatrix" in source[worst - 1] and lines[worst].conflict_degree == 8
    assert sum(t.wavefronts for t in lines.values()) == report.totals.wavefronts
