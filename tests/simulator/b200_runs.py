"""Runs rungs of the b200 ladder on the simulator with small integers, for the tests of this ladder."""

import ml_dtypes
import numpy as np

import gpu_simulator
from gemm_lab import catalog, compiling
from gpu_simulator.faults import SimulatedFault
from gpu_simulator.hardware.tensor_map import TensorMap

RUNGS = [spec.short for spec in catalog.ladder("b200").kernels]
PAIRS = ("04_cta_pairs", "05_tma_store")
BF16 = ml_dtypes.bfloat16


def compiled(rung, source=None, **config):
    spec = catalog.kernel(f"b200/{rung}")
    return compiling.compile(source or spec.source, config=spec.configure(**config), arch="sm_100a", name=spec.name)


def run(rung, m, n, k, sms=148, made=None, ptx=None, **options):
    """Run a rung; returns (report, D, the exact result rounded to BF16), the two arrays as float32.

    made: a compiled variant to run instead.   ptx: PTX text to run instead.
    """
    spec, made = catalog.kernel(f"b200/{rung}"), made or compiled(rung)
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-2, 3, shape).astype(BF16) for shape in ((m, k), (n, k)))
    d = np.full((m, n), np.nan, BF16)
    values = {"a": a, "b": b, "d": d, "m": m, "n": n, "k": k}
    for title, mapped in spec.problem.configured(made.config).tensor_maps:
        values[title] = TensorMap.of(values[mapped.array], mapped.box, mapped.swizzle)
    report = gpu_simulator.launch(
        ptx or made,
        made.entry,
        spec.launch_grid(made.config, m, n, k, sms),
        made.threads,
        [values[x] for x in spec.problem.arguments],
        dynamic_smem_bytes=made.dynamic_smem,
        cluster=spec.cluster,
        **options,
    )
    exact = (a.astype(np.float32) @ b.astype(np.float32).T).astype(BF16)
    return report, d.astype(np.float32), exact.astype(np.float32)


RING = {"NUM_STAGES": 2}  # the shortest ring of stages, which is reused soonest


def small(rung) -> dict:
    """Arguments of `run` for three tiles on one block or pair, which reuses an accumulator, and a stage of `RING`."""
    pair = rung in PAIRS
    return {"m": 256 if pair else 128, "n": 768, "k": 64 * (RING["NUM_STAGES"] + 1), "sms": 2 if pair else 1}


def fails(rung, made, **what) -> bool:
    """Whether late timing reveals that a kernel is broken, by a fault, a hazard or a wrong result."""
    try:
        report, d, exact = run(
            rung, **small(rung), made=made, observers=("hazards",), timing="late", max_instructions=10**7, **what
        )
    except SimulatedFault:  # such as a wait that never ends, or an impossible descriptor
        return True
    return any(hazard.kind != "early use" for hazard in report.hazards) or not np.array_equal(d, exact)
