"""The Hopper ladder on the simulator: exact, clean with both timings, in few steps, and every mutant caught."""

import re
from functools import cache

import numpy as np
import pytest
from mutants import altered_clusters, altered_mbarriers, altered_wgmma, mutants
from survivors import TIMINGS, survivors

import gemm_lab as lab
import gpu_simulator
from gemm_lab import catalog, compiling
from gemm_lab.measure.inputs import make_inputs, reference, rounded
from gemm_lab.problem import DTYPE_BYTES
from gemm_lab_lessons.shared.fault_injection import inject_fault

RUNGS = [name for name in catalog.kernels() if name.startswith(("hopper/", "hopper_fp8/"))]
ANY_SIZE = [name for name in RUNGS if str(catalog.kernel(name).multiples.get("m")) in ("1", "4")]


@cache
def compiled(name: str):
    spec = catalog.kernel(name)
    return spec, compiling.compile(spec.source, config=spec.configure(), arch=spec.targets[0], name=name)


def run(name: str, m: int, n: int, k: int, ptx: str | None = None, sms: int = 4, kind: str = "integers", **options):
    """(report, is D exact) for inputs of a kind. sms: of the GPU that persistent blocks believe in."""
    spec, made = compiled(name)
    problem = spec.problem.configured(spec.configure())
    given = make_inputs(problem, m, n, k, kind)
    report = gpu_simulator.launch(
        ptx or made,
        made.entry,
        spec.launch_grid(made.config, m, n, k, sms),
        made.threads,
        given.arguments(),
        dynamic_smem_bytes=made.dynamic_smem,
        cluster=spec.cluster,
        **options,
    )
    return report, np.array_equal(given.d.astype(np.float64), rounded(reference(given), problem))


@pytest.mark.sampled(every=20)
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_is_exact_and_clean(name, timing):
    report, exact = run(name, 512, 768, 256, sms=2, timing=timing, observers=("hazards",))
    assert exact and report.hazards == []


@pytest.mark.sampled(every=25)
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", ANY_SIZE)
@pytest.mark.parametrize(("m", "n", "pieces"), [(8, 8, 1), (200, 392, 9), (520, 264, 25)])
def test_tails(name, m, n, pieces, timing):
    """Rows of A and B of so many pieces of 16 bytes, as many as TMA asks for."""
    values = 16 // DTYPE_BYTES[catalog.kernel(name).problem.dtype_in]
    report, exact = run(name, m, n, pieces * values, timing=timing, observers=("hazards",))
    assert exact and report.hazards == []


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("name", RUNGS)
def test_512_takes_few_steps(name):
    """The blocks and warps of a launch go on together: each of the simulator's steps is one for many of them."""
    report, exact = run(name, 512, 512, 512)
    assert exact and report.steps < 70_000


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", RUNGS)
def test_the_operands_are_counted(name):
    """Each wgmma reads 64 rows of A and its columns of B, 32 bytes of K each."""
    m, n, k = 512, 768, 128
    report, _ = run(name, m, n, k)
    products = [s for s in report.sites if "mma_async" in s.opcode]
    width, depth = map(int, re.search(r"m64n(\d+)k(\d+)", products[0].opcode).groups())
    block_m = compiled(name)[0].configure()["BLOCK_M"]
    count = -(-m // block_m) * block_m // 64 * -(-n // width) * (k // depth)
    assert sum(s.requests for s in products) == count == sum(s.executions for s in products) // 4
    assert sum(s.bytes for s in products) == count * (64 + width) * 32


def equivalent(statement: str, name: str) -> str:
    """Why a mutant does what the kernel does; empty if it does not."""
    if name in ("hopper/01_wgmma", "hopper/02_tma") and statement.startswith("bar.sync"):
        return "behind wgmma.wait_group: a wgmma is complete for its whole warpgroup, here the only one of the block"
    if "mapa" in statement and "rank ^ 1" in statement:
        return "two lanes name the two blocks, whichever which"
    if "→ .relaxed" in statement:
        return "the fence of the mbarriers' inits stands before it, and nothing else has been written"
    return ""


SIZES = {
    "01": (256, 256, 192),
    "02": (256, 256, 320),
    "03": (256, 256, 320),
    "04": (256, 512, 384),
    "05": (256, 512, 384),
    "06": (512, 512, 384),
    "07": (512, 512, 384),
    "08": (256, 256, 512),
}
IN_8_BITS = (256, 384, 1024), (256, 256, 896)  # more k tiles than stages, more than one tile; an odd number of k tiles


@pytest.mark.timeout(300)
@pytest.mark.long
@pytest.mark.parametrize("name", RUNGS)
def test_mutants_are_caught(name):
    spec, made = compiled(name)
    fields = [m for m in altered_wgmma(made.ptx) if "leading offset" not in m.statement]  # K-major swizzled: not used
    tried = [*mutants(made.ptx), *altered_mbarriers(made.ptx), *altered_clusters(made.ptx), *fields[:12]]

    sizes = [SIZES[name[7:9]]] if name.startswith("hopper/") else IN_8_BITS[: 1 + name.endswith("two_accumulators")]

    def attempt(ptx, timing):
        for size in sizes:
            report, exact = run(
                name,
                *size,
                ptx=ptx,
                sms=spec.cluster[0],
                timing=timing,
                observers=("hazards",),
                max_instructions=400_000,
            )
            if not exact or report.hazards:
                break
        return exact, report

    missed = survivors(tried, attempt)
    assert len(tried) > 15 and len(missed) <= 3
    assert [statement for statement in missed if not equivalent(statement, name)] == []


def test_sums_that_begin_with_what_the_registers_held_are_wrong():
    """The first wgmma of a tile adds to registers that nobody has set to 0."""
    found = inject_fault(lab.kernel("hopper/01"), {"k_tile > 0 || k > 0": "true"})
    assert found.kind == "a wrong result" and "nan" in found.says
    assert inject_fault(lab.kernel("hopper/01"), {}).kind == "nothing"


LATE = {  # the accumulator goes on for 256 of K
    "k > 0);": "k > 0 || turn % 2 == 1);",
    "[&](int stage) {                      // issues": "[&](int stage, int turn) {            // issues",
    "multiply(stage);": "multiply(stage, k_tile / BLOCK_K);",
    "promote();": "if (k_tile / BLOCK_K % 2 == 1 || k_tile + BLOCK_K >= K) promote();",
}
WRONG_IN_8_BITS = [
    ("02_promoted", LATE, "cancelling"),
    ("02_promoted", {"total[j][0] = total[j][1] =": "total[j][1] ="}, "integers"),
    ("02_promoted", {"total[j][i] += acc[j][i]": "total[j][i] = acc[j][i]"}, "integers"),
    ("03_two_accumulators", {"turn(acc[0], acc[1]);": "turn(acc[0], acc[0]);"}, "integers"),
    ("04_block_scales", {" * scale[i / 2]": ""}, "integers"),
    ("04_block_scales", {"scale[i / 2]": "scale[i % 2]"}, "integers"),
    ("04_block_scales", {"of_a[8]": "of_a[4]"}, "integers"),
    ("04_block_scales", {"k_tile += BLOCK_K, of_b++)": "k_tile += BLOCK_K)"}, "integers"),
    ("04_block_scales", {"tile.n * cdiv(K, BLOCK_K)": "tile.n"}, "integers"),
    (
        "04_block_scales_tall",
        {"fetch_scales(read, row, of_b);": "fetch_scales(read, row - part * MMA_M, of_b);"},
        "integers",
    ),
]


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(("rung", "changes", "kind"), WRONG_IN_8_BITS)
def test_wrong_sums_and_scales_are_caught(rung, changes, kind):
    name = f"hopper_fp8/{rung}"
    spec, right = compiled(name)
    source = spec.source
    for old, new in changes.items():
        assert old in source
        source = source.replace(old, new)
    broken = compiling.compile(source, config=spec.configure(), arch=spec.targets[0], name=name)
    assert run(name, 128, 384, 512, kind=kind)[1]
    assert not run(name, 128, 384, 512, ptx=broken.ptx, kind=kind)[1]


def test_only_sums_that_cancel_show_a_late_promotion():
    """Whole numbers up to 4 fit into 13 bits for longer than 256 of K."""
    spec, _ = compiled("hopper_fp8/02_promoted")
    source = spec.source
    for old, new in LATE.items():
        source = source.replace(old, new)
    late = compiling.compile(source, config=spec.configure(), arch="sm_90a", name=spec.name)
    assert run(spec.name, 128, 384, 512, ptx=late.ptx)[1]
