"""Checks a kernel at large sizes on the device: inputs, D filled with NaN, launch, cuBLAS reference, comparison.

The reference multiplies the inputs converted to f32, with FP32 accumulation and no TF32. Products of f16 and bf16
values are exact in f32, so for whole numbers of a small range the reference is the exact result. If a kernel rounds its
f32 inputs before it multiplies, the reference multiplies the rounded ones. Products of 8-bit values with scales are
exact in f32 too if the scales are powers of two; else the scaled operands are rounded to f32 first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gpu_runner.baselines.cublas import Blas
from gpu_runner.driver import Buffer, Device, Mapped
from gpu_runner.support import BYTES, Comparison, Support
from gpu_simulator.hardware.tensor_map import TensorMap

ROWS_AT_ONCE = 4096
SCALE_BLOCK = 128  # neighbours along K that share a scale; of B also so many columns


class Inputs:
    """A, B, C and D of one problem on the device, and the scales of A and B if it has such.

    `problem` has dtype_in, dtype_acc, dtype_out, layout_a, layout_b, uses_c and perhaps scaled. `kind` is "normal" for
    N(0, 1) or "integers" for whole numbers from -limit to limit. D is filled with NaN.
    """

    def __init__(
        self,
        device: Device,
        support: Support,
        problem: Mapping[str, Any],
        m: int,
        n: int,
        k: int,
        *,
        kind: str,
        seed: int,
        limit: int = 0,
    ):
        self.device, self.support, self.problem = device, support, problem
        self.m, self.n, self.k = m, n, k
        self.held: list[Buffer] = []
        try:
            self.a, self.b, self.c, self.d = (
                self._make(name, kind, seed * 4 + i, limit) for i, name in enumerate("abcd")
            )
            self.scale_a, self.scale_b = (
                self._scales(name, kind == "integers", ~(seed * 2 + i) % 2**64)
                for i, name in enumerate(("scale_a", "scale_b"))
            )
        except Exception:
            self.free()
            raise

    def shape(self, operand: str) -> tuple[int, int]:
        """(rows, columns) of an array as it is stored."""
        blocks_n, blocks_k = -(-self.n // SCALE_BLOCK), -(-self.k // SCALE_BLOCK)
        rows, columns = {
            "a": (self.m, self.k), "b": (self.k, self.n), "scale_a": (blocks_k, self.m), "scale_b": (blocks_n, blocks_k)
        }.get(operand, (self.m, self.n))  # fmt: skip
        return (columns, rows) if self.problem.get(f"layout_{operand}") == "col" else (rows, columns)

    def dtype(self, operand: str) -> str:
        return "f32" if "scale" in operand else self.problem["dtype_in" if operand in "ab" else "dtype_out"]

    def _scales(self, name: str, powers: bool, seed: int) -> Buffer | None:
        if not self.problem.get("scaled"):
            return None
        count = math.prod(self.shape(name))
        self.held.append(Buffer(self.device, 4 * count))
        self.support.scales(self.held[-1], count, seed, powers)
        return self.held[-1]

    def _make(self, name: str, kind: str, seed: int, limit: int) -> Buffer | None:
        if name == "c" and not self.problem["uses_c"]:
            return None
        count, dtype = math.prod(self.shape(name)), self.dtype(name)
        buffer = Buffer(self.device, count * BYTES[dtype])
        self.held.append(buffer)
        if name == "d":
            buffer.fill(0xFF)
        elif kind == "integers":
            self.support.integers(buffer, count, dtype, seed, limit)
        else:
            self.support.normal(buffer, count, dtype, seed)
        return buffer

    @property
    def nbytes(self) -> int:
        return sum(buffer.nbytes for buffer in self.held)

    def argument(self, token: Any, alpha: float, beta: float) -> Any:
        """The kernel argument that `token` names: an array, m n k alpha beta, or ("map", operand, box, swizzle).

        Any other token is itself the argument.
        """
        if isinstance(token, (tuple, list)) and token[0] == "map":
            return self.tensor_map(*token[1:])
        if not isinstance(token, str):
            return token
        arrays = {name: getattr(self, name) for name in ("a", "b", "c", "d", "scale_a", "scale_b")}
        return {**arrays, "m": self.m, "n": self.n, "k": self.k, "alpha": float(alpha), "beta": float(beta)}[token]

    def tensor_map(self, operand: str, box: tuple[int, ...], swizzle: int) -> Mapped:
        """The tensor map of an array. `box`: elements, innermost dimension first; `swizzle`: bytes."""
        described = TensorMap.of_shape(self.dtype(operand), self.shape(operand), box, swizzle)
        return Mapped(described, getattr(self, operand))

    def rounded(self, operand: Buffer, count: int, dtype: str) -> Buffer:
        """A new buffer with `count` elements of an f32 operand, rounded to `dtype`; the caller frees it."""
        out = Buffer(self.device, count * BYTES[dtype])
        self.support.narrow(out, operand, count, dtype)
        return out

    def free(self) -> None:
        for buffer in self.held:
            buffer.free()


def compare(
    inputs: Inputs,
    blas: Blas,
    *,
    alpha: float,
    beta: float,
    exact: bool,
    limits: tuple[float, float],
    block: tuple[int, int],
    multiplied: str | None = None,
    scaled: bool | None = None,
) -> Comparison:
    """Compare D with the reference; `limits` are the absolute and the relative tolerance of each element.

    If `exact`, every element must equal the reference, rounded to D's type. `multiplied`: the type to which the kernel
    rounds A and B first.   scaled: whether it multiplies them by the scales. Both default to what the problem says.
    """
    device, support, problem = inputs.device, inputs.support, inputs.problem
    m, n, k = inputs.m, inputs.n, inputs.k
    given, multiplied = problem["dtype_in"], multiplied or problem["multiplied"]
    wide: list[Buffer] = []
    try:
        for source, count in ((inputs.a, m * k), (inputs.b, k * n)):
            wide.append(Buffer(device, 4 * count))
            if multiplied == given:
                support.widen(wide[-1], source, count, given)
                continue
            rounded = inputs.rounded(source, count, multiplied)
            support.widen(wide[-1], rounded, count, multiplied)
            device.wait()
            rounded.free()
        if problem.get("scaled") if scaled is None else scaled:
            support.scale(wide[0], m * k, k, inputs.scale_a, (1, SCALE_BLOCK), (1, m))
            blocks_k = inputs.shape("scale_b")[1]
            support.scale(wide[1], n * k, k, inputs.scale_b, (SCALE_BLOCK, SCALE_BLOCK), (blocks_k, 1))
        reference = Buffer(device, 4 * min(m, ROWS_AT_ONCE) * n)
        report, tiles, count = support.comparison(m, n, block)
        wide += [reference, report, tiles]
        for first in range(0, m, ROWS_AT_ONCE):
            rows = (first, min(m, first + ROWS_AT_ONCE))
            _multiply(inputs, blas, wide, rows, alpha)
            sides = inputs.d, problem["dtype_out"], reference, inputs.c, beta
            support.compare(*sides, rows, n, exact, limits, block, report, tiles)
        found = support.result(report, tiles, count)
        if found.first is not None:
            found.got, found.expected = _values(inputs, blas, wide, divmod(found.first, n), alpha, beta)
        return found
    finally:
        device.wait()
        for buffer in wide:
            buffer.free()


def _multiply(inputs: Inputs, blas: Blas, wide: list[Buffer], rows: tuple[int, int], alpha: float) -> None:
    """Rows of alpha · A · B in FP32. wide: A, B and the result, in f32."""
    blas.gemm(
        inputs.m, inputs.n, inputs.k, *wide[:3],
        dtype_in="f32", dtype_out="f32", dtype_acc="f32",
        layout_a=inputs.problem["layout_a"], layout_b=inputs.problem["layout_b"],
        alpha=alpha, rows=rows, pedantic=True,
    )()  # fmt: skip


def _values(
    inputs: Inputs, blas: Blas, wide: list[Buffer], at: tuple[int, int], alpha: float, beta: float
) -> tuple[float, float]:
    """(the value of D, the reference before it is rounded) at `at`, which is (row, column)."""
    (row, column), n, problem = at, inputs.n, inputs.problem

    def element(buffer: Buffer, dtype: str) -> float:
        return float(buffer.read(dtype, (), (row * n + column) * BYTES[dtype]))

    _multiply(inputs, blas, wide, (row, row + 1), alpha)
    inputs.device.wait()
    expected = float(wide[2].read("f32", (), 4 * column))
    if inputs.c is not None:
        expected += beta * element(inputs.c, problem["dtype_out"])
    return element(inputs.d, problem["dtype_out"]), expected


def summary(found: Comparison, n: int, block: tuple[int, int]) -> dict[str, Any]:
    """A comparison as plain data. "first_bad" is (row, column) in D; "bad_tiles" has the first eight bad tiles.

    A bad tile is given as (row, column) of tiles, and "wrong_in_tiles" has its number of wrong elements.
    """
    across = -(-n // block[1])
    bad = [int(tile) for tile in found.tiles.nonzero()[0]]
    first = None if found.first is None else divmod(found.first, n)
    return {
        "wrong": found.wrong,
        "nonfinite": found.nonfinite,
        "first_bad": first,
        "largest": found.largest,
        "relative_error": found.relative_error,
        "bad_tile_count": len(bad),
        "bad_tiles": [divmod(tile, across) for tile in bad[:8]],
        "got": found.got,
        "expected": found.expected,
        "wrong_in_tiles": [int(found.tiles[tile]) for tile in bad[:8]],
    }


def verify(
    device: Device,
    support: Support,
    blas: Blas,
    context: Any,
    *,
    compiled: dict[str, Any],
    grid: tuple[int, int, int],
    cluster: tuple[int, int, int],
    arguments: list[Any],
    problem: dict[str, Any],
    m: int,
    n: int,
    k: int,
    kind: str,
    limit: int,
    alpha: float,
    beta: float,
    limits: tuple[float, float],
    block: tuple[int, int],
    seed: int,
) -> dict[str, Any]:
    """Check one kernel. Returns `summary`, m, n, k, and `kernel_ms`, the time of its only launch, without warm-up."""
    function = device.kernel(compiled)
    inputs = Inputs(device, support, problem, m, n, k, kind=kind, seed=seed, limit=limit)
    try:
        start = device.launcher(function, grid, [inputs.argument(token, alpha, beta) for token in arguments], cluster)
        device.wait()
        context.running()
        first = device.mark()
        start()
        last = device.mark()
        device.wait()
        context.progress(stage="comparing")
        found = compare(inputs, blas, alpha=alpha, beta=beta, exact=kind == "integers", limits=limits, block=block)
        return {**summary(found, n, block), "kernel_ms": device.milliseconds(first, last), "m": m, "n": n, "k": k}
    finally:
        inputs.free()
