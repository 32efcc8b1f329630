"""Checks a kernel's output: whether it is right, where the first wrong element is, and what the likely mistake is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from gemm_lab.measure.bounds import bound, element_limits
from gemm_lab.measure.guesses import ALL_NAN, guess
from gemm_lab.measure.inputs import Inputs, integer_limit, large_products, make_inputs, reference, rounded, scales
from gemm_lab.problem import Problem

__all__ = ["Inputs", "Verdict", "bound", "check", "element_limits", "make_inputs", "reference", "verdict"]

NUMPY_UP_TO = 1024
Launch = Callable[..., Sequence[np.ndarray]]


@dataclass(frozen=True)
class Verdict:
    """The result of a check. It is true if the output passed.

    message: the result in a sentence.   first_bad: (row, column) of the first wrong element.
    error: ‖out − ref‖/‖ref‖, or for whole numbers the largest |out − ref|.   bound: the largest error that passes.
    bad_tiles: (row, column) of up to eight block tiles with wrong elements.   wrong: number of wrong elements.
    """

    passed: bool
    message: str
    first_bad: tuple[int, int] | None
    error: float
    bound: float
    bad_tiles: tuple[tuple[int, int], ...] = ()
    wrong: int = 0

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return ("PASS · " if self.passed else "FAIL · ") + self.message

    def _repr_html_(self) -> str:
        return f"<b>{'✓ PASS' if self.passed else '✗ FAIL'}</b> · {escape(self.message)}"


def verdict(
    out: np.ndarray,
    ref: np.ndarray,
    kind: str,
    problem: Problem,
    k: int,
    block: Sequence[int] | None = None,
    inputs: Inputs | None = None,
) -> Verdict:
    """Compare `out` (M, N) with the exact `ref` (float64, M, N).

    For "integers" and "cancelling", every element has to equal the rounded reference. For "normal", every element has
    to be within `element_limits` and the whole within `bound`. NaN and infinity never pass. block: (BLOCK_M, BLOCK_N[,
    BLOCK_K]). inputs: if given, the message may also name the likely mistake.
    """
    block = tuple(block or (128, 128))
    got = np.asarray(out).astype(np.float64)
    if got.shape != ref.shape:
        return Verdict(False, f"D has shape {got.shape}; it has to be {ref.shape}.", (0, 0), math.inf, 0.0)
    finite, exact = np.isfinite(got), kind != "normal"
    expected = rounded(ref, problem) if exact else ref
    with np.errstate(invalid="ignore"):
        difference = np.where(finite, np.abs(got - expected), np.inf)
    absolute, relative = (0.0, 0.0) if exact else element_limits(problem, k, scales(problem)[0])
    wrong = ~(difference <= absolute + relative * np.abs(ref))
    row, column = (int(index) for index in np.unravel_index(np.argmax(wrong), wrong.shape))
    tiles = bad_tiles(wrong, block)
    found = {
        "wrong": int(wrong.sum()),
        "nonfinite": int((~finite).sum()),
        "first_bad": (row, column),
        "largest": float(difference.max(initial=0.0)),
        "relative_error": float(np.linalg.norm(difference)) / (float(np.linalg.norm(ref)) or 1.0),
        "bad_tiles": tiles[:8],
        "got": got[row, column],
        "expected": expected[row, column],
    }
    hint = None
    if kind == "cancelling" and finite.all():  # small numbers have shown other mistakes
        exponent, products = large_products(problem, k)
        hint = (
            f"Partial sums reach {products * 2**exponent:,} here before they cancel. A sum that loses ones meanwhile "
            f"is not kept in {problem.dtype_acc}"
            + (f" after each {problem.promotion} of K." if problem.promotion else ".")
        )
    elif found["wrong"]:
        hint = guess(got, expected, wrong, tiles, block, kind, problem, inputs)
    return judge(found, problem, k, kind, ref.size, block, hint)


def judge(
    found: dict[str, Any],
    problem: Problem,
    k: int,
    kind: str,
    size: int,
    block: Sequence[int],
    hint: str | None = None,
) -> Verdict:
    """The verdict on a comparison of `size` elements, as the worker's `gpu_runner.timing.verify.summary` has it.

    hint: the likely mistake.
    """
    exact, wrong = kind != "normal", found["wrong"]
    error = math.inf if found["nonfinite"] else found["largest" if exact else "relative_error"]
    limit = 0.0 if exact else bound(problem, k, size)
    if not wrong and error <= limit:
        return Verdict(True, _passing(kind, error, limit), None, error, limit)
    if not wrong:
        most = f"the most that {problem.dtype_acc} accumulation of {k:,} products explains"
        message = f"Every element is close, but the relative error {error:.2e} exceeds {limit:.2e}, {most}."
        return Verdict(False, message, None, error, limit)
    if hint is None and found["nonfinite"]:
        hint = ALL_NAN if found["nonfinite"] == size else f"NaN or infinite: {found['nonfinite']:,}."
    at, tiles = tuple(found["first_bad"]), tuple(tuple(tile) for tile in found["bad_tiles"])
    message = _failing(at, found["got"], found["expected"], wrong, size, block, hint)
    return Verdict(False, message, at, error, limit, tiles, wrong)


def bad_tiles(wrong: np.ndarray, block: Sequence[int]) -> list[tuple[int, int]]:
    """(row, column) of each block tile that has a wrong element, in row-major order."""
    rows, columns = np.nonzero(wrong)
    pairs = np.unique(np.stack([rows // block[0], columns // block[1]], axis=1), axis=0)
    return [(int(row), int(column)) for row, column in pairs]


def _passing(kind: str, error: float, limit: float) -> str:
    if kind != "normal":
        return "every element equals the exact result"
    if math.isinf(limit):
        return f"relative error {error:.1e}, every element within its own limit"
    return f"relative error {error:.1e}, within {limit:.1e}"


def told_apart(got: float, expected: float) -> tuple[str, str]:
    """Both numbers as text, with six significant digits, or as many as show that they differ."""
    for digits in range(6, 18):
        texts = f"{got:.{digits}g}", f"{expected:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def _failing(
    at: tuple[int, int],
    got: float,
    expected: float,
    count: int,
    size: int,
    block: Sequence[int],
    hint: str | None,
) -> str:
    tile = (at[0] // block[0], at[1] // block[1])
    found, wanted = told_apart(got, expected)
    text = (
        f"D[{at[0]}, {at[1]}] (tile {tile}) is {found}; it should be {wanted}. "
        f"{count:,} of {size:,} elements are wrong."
    )
    return f"{text} {hint}" if hint else text


# ---- The whole check ----


def check(
    compiled: Any,
    problem: Problem,
    *,
    grid: tuple[int, int, int],
    m: int,
    n: int,
    k: int,
    block: Sequence[int] | None = None,
    kind: str = "integers",
    seed: int = 0,
    cluster: tuple[int, int, int] = (1, 1, 1),
    launch: Launch | None = None,
) -> Verdict:
    """Make inputs, launch the kernel and compare its output. launch: the simulator's; by default the GPU's.

    On a GPU, inputs and reference of sizes above 1024 are made on the device and compared there, unless the kind is
    "cancelling"; otherwise NumPy does this in this process. A kernel that overwrites an operand other than D does not
    pass if the check runs here.
    """
    if launch is None:
        import gpu_runner as device  # only where there is a GPU

        if max(m, n, k) > NUMPY_UP_TO and kind != "cancelling":
            block, alpha, beta = tuple(block or (128, 128)), *scales(problem)
            found = device.run_guarded(
                compiled, "verify", grid=grid, cluster=cluster, timeout_s=None, flops=problem.flops(m, n, k),
                args=lambda: make_inputs(problem, m, n, k, "normal", seed).arguments(),
                compiled=device.payload(compiled), arguments=problem.tokens, problem=wire_problem(problem),
                m=m, n=n, k=k, kind=kind, limit=integer_limit(problem, k) if kind == "integers" else 0,
                alpha=alpha, beta=beta, limits=element_limits(problem, k, alpha), block=block[:2], seed=seed,
            )  # fmt: skip
            return judge(found, problem, k, kind, m * n, block)
        launch = device.launch
    inputs = make_inputs(problem, m, n, k, kind, seed)
    arrays = launch(compiled, grid=grid, args=inputs.arguments(), cluster=cluster)
    out = arrays[problem.arrays.index("d")]
    found = verdict(out, reference(inputs), kind, problem, k, block, inputs)
    says = _changed(inputs, arrays)
    return replace(found, passed=False, message=f"{found.message.rstrip('.')}; {says}") if says else found


def _changed(inputs: Inputs, arrays: Sequence[np.ndarray]) -> str:
    """A clause about the first operand other than D that the launch has changed; "" if none has changed."""
    for name, array in zip(inputs.problem.arrays, arrays, strict=True):
        if name != "d" and not np.array_equal(array, getattr(inputs, name)):
            row, column = np.argwhere(array != getattr(inputs, name))[0]
            return f"and the kernel has overwritten {name.upper()}, first [{row}, {column}] as it is stored."
    return ""


def wire_problem(problem: Problem) -> dict[str, Any]:
    """The problem as the worker takes it: the fields of `gpu_runner.timing.verify.Inputs`, and `multiplied`."""
    return {
        name: getattr(problem, name)
        for name in ("dtype_in", "dtype_acc", "dtype_out", "layout_a", "layout_b", "uses_c", "multiplied", "scaled")
    }
