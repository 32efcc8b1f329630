"""The worker's operations with operands that are rounded, and in 8 bits with scales."""

import numpy as np
import pytest
from fake_cupy import C_INT, POINTER, view
from worker_runs import COMPILED, verify_payload

from gemm_lab.measure.bounds import bound, element_limits
from gemm_lab.measure.check import judge, wire_problem
from gemm_lab.problem import Problem
from gpu_runner import operations
from gpu_runner.timing import rounds as timing
from gpu_simulator.hardware.number_types import dtype_of

PLAIN = ("a", "b", "d", "m", "n", "k")
PLAIN_TYPES = (POINTER, POINTER, POINTER, C_INT, C_INT, C_INT)
ROUNDED = Problem("D = AB", "f32", "f32", "f32", "row", "row", PLAIN, "bf16")


def rounding_gemm(dtype):
    def gemm(a, b, d, m, n, k):
        left, right = (
            view(at, rows * columns, "f32").reshape(rows, columns).astype(dtype_of(dtype)).astype(np.float32)
            for at, rows, columns in ((a, m, k), (b, k, n))
        )
        view(d, m * n, "f32").reshape(m, n)[...] = left @ right

    return gemm


@pytest.mark.parametrize(("dtype", "right"), [("bf16", True), ("f16", False), ("f32", False)])
def test_rounded_inputs_are_checked_against_the_rounded_product(worker, dtype, right):
    made = worker({"gemm": (PLAIN_TYPES, rounding_gemm(dtype))})
    payload = verify_payload(ROUNDED, kind="normal", arguments=list(PLAIN), alpha=1.0, beta=0.0)
    payload["limits"] = element_limits(ROUNDED, 32, 1.0)
    found = operations.verify(made.context, **payload)
    assert judge(found, ROUNDED, 32, "normal", 96 * 64, (32, 32)).passed == right and made.cuda.used == 0


def test_cublas_gets_rounded_inputs_and_every_kernel_its_own_reference(worker, monkeypatch):
    monkeypatch.setattr(timing, "BURST_REST_S", 0.0)
    made = worker({dtype: (PLAIN_TYPES, rounding_gemm(dtype)) for dtype in ("bf16", "f16")})
    kernel = {
        "kind": "kernel",
        "grid": (3, 2, 1),
        "cluster": (1, 1, 1),
        "arguments": list(PLAIN),
        "flops": 1e9,
        "block": (32, 32),
    }
    cases = [("bf16", "bf16"), ("f16", "f16"), ("f16", "bf16")]  # the entry of the module, what it claims to multiply
    entries = [
        {
            **kernel,
            "label": f"{entry} as {claimed}",
            "multiplied": claimed,
            "compiled": {**COMPILED, "entry": entry, "key": entry},
        }
        for entry, claimed in cases
    ]
    entries.append({"label": "cublas", "kind": "cublas", "flops": 1e9, "multiplied": "bf16"})
    answer = operations.benchmark(
        made.context, problem=wire_problem(ROUNDED), m=96, n=64, k=32, entries=entries, regime="burst", rounds=2,
        limits=element_limits(ROUNDED, 32, 1.0), error_bounds={e["label"]: bound(ROUNDED, 32) for e in entries},
        alpha=1.0, beta=0.0, seed=3,
    )  # fmt: skip
    timed = {report["label"]: bool(report["samples_ms"]) for report in answer["entries"]}
    assert timed == {"bf16 as bf16": True, "f16 as f16": True, "f16 as bf16": False, "cublas": True}
    assert made.cuda.used == 0


# ---- Operands of 8 bits, with and without scales ----

FP8 = Problem("D = AB", "e4m3", "f32", "bf16", "row", "col", PLAIN, promotion=128)
SCALED = Problem("D = AB", "e4m3", "f32", "bf16", "row", "col", (*PLAIN, "scale_a", "scale_b"), promotion=128)
SCALED_TYPES = (*PLAIN_TYPES, POINTER, POINTER)


def scaled_gemm(turned=False):
    """A kernel with block scales; `turned` reads those of B transposed."""

    def gemm(a, b, d, m, n, k, scale_a, scale_b):
        left, right = (view(at, e * k, "e4m3").reshape(e, k).astype(np.float32) for at, e in ((a, m), (b, n)))
        blocks, across = -(-k // 128), -(-n // 128)
        of_a = view(scale_a, blocks * m, "f32").reshape(blocks, m)
        of_b = view(scale_b, across * blocks, "f32").reshape((blocks, across) if turned else (across, blocks))
        of_b = of_b.T if turned else of_b
        left = left * np.repeat(of_a.T, 128, 1)[:, :k]
        right = right * np.repeat(np.repeat(of_b, 128, 0), 128, 1)[:n, :k]
        view(d, m * n, "bf16").reshape(m, n)[...] = left @ right.T

    return gemm


def unscaled_gemm(a, b, d, m, n, k, *scales):
    left, right = (view(at, e * k, "e4m3").reshape(e, k).astype(np.float32) for at, e in ((a, m), (b, n)))
    view(d, m * n, "bf16").reshape(m, n)[...] = left @ right.T


@pytest.mark.parametrize("kind", ["integers", "normal"])
@pytest.mark.parametrize(
    ("kernel", "right"), [(scaled_gemm(), True), (scaled_gemm(turned=True), False), (unscaled_gemm, False)]
)
def test_scales_are_made_checked_and_freed(worker, kind, kernel, right):
    made = worker({"gemm": (SCALED_TYPES, kernel)})
    payload = verify_payload(SCALED, n=300, k=400, kind=kind, arguments=list(SCALED.arguments), alpha=1.0, beta=0.0)
    payload["limits"] = element_limits(SCALED, 400)
    found = operations.verify(made.context, **payload)
    assert judge(found, SCALED, 400, kind, 96 * 300, (32, 32)).passed == right and made.cuda.used == 0


def test_kernels_with_and_without_scales_are_timed_in_one_run(worker, monkeypatch):
    monkeypatch.setattr(timing, "BURST_REST_S", 0.0)
    made = worker({"scaled": (SCALED_TYPES, scaled_gemm()), "plain": (PLAIN_TYPES, unscaled_gemm)})
    entries = [
        {
            "label": f"{entry} as {claimed}", "kind": "kernel", "grid": (3, 2, 1), "cluster": (1, 1, 1), "flops": 1e9,
            "arguments": list((SCALED if entry == "scaled" else FP8).arguments), "scaled": claimed == "scaled",
            "compiled": {**COMPILED, "entry": entry, "key": entry}, "limits": element_limits(SCALED, 256),
        }
        for entry, claimed in (("scaled", "scaled"), ("plain", "plain"), ("plain", "scaled"), ("scaled", "plain"))
    ]  # fmt: skip
    entries.append({"label": "cublas", "kind": "cublas", "flops": 1e9})
    answer = operations.benchmark(
        made.context, problem=wire_problem(SCALED), m=96, n=64, k=256, entries=entries, regime="burst", rounds=2,
        limits=(0.0, 0.0), error_bounds={e["label"]: bound(SCALED, 256) for e in entries}, alpha=1.0, beta=0.0, seed=3,
    )  # fmt: skip
    timed = {report["label"]: bool(report["samples_ms"]) for report in answer["entries"]}
    assert timed == {
        "scaled as scaled": True, "plain as plain": True, "plain as scaled": False, "scaled as plain": False,
        "cublas": False,
    }  # fmt: skip
    assert "no 8-bit numbers" in answer["entries"][-1]["skipped"] and made.cuda.used == 0
