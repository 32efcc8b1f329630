"""What the kernels of a ladder compute: operands, layouts, types, scales, and the order of the arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gemm_lab.ladder_expressions import evaluate

LONGEST_EDGE = 65_536  # the largest M, N or K
MATRICES = ("a", "b", "c", "d")
SCALES = ("scale_a", "scale_b")
OPERANDS = (*MATRICES, "m", "n", "k", "alpha", "beta", *SCALES)
SCALE_BLOCK = 128  # neighbours along K that share a factor of `SCALES`; of B also so many columns
DTYPE_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "e4m3": 1}


@dataclass(frozen=True)
class MapSpec:
    """A tensor map of a ladder: the operand `array`, its box in elements (innermost dimension first), its swizzle.

    Box and swizzle (in bytes) are numbers, or expressions over the configuration.
    """

    array: str
    box: tuple[str | int, ...]
    swizzle: str | int = 0

    def configured(self, config: Mapping[str, int]) -> MapSpec:
        return MapSpec(self.array, tuple(evaluate(size, config) for size in self.box), evaluate(self.swizzle, config))


@dataclass(frozen=True)
class Problem:
    """The operation that all rungs of a ladder share.

    compute: the type to which a kernel rounds A and B before it multiplies, "" if it does not round them. The exact
    result is then the product of the rounded matrices.
    promotion: after so many k, what the tensor cores have added goes to sums in dtype_acc; 0: it stays where it is.
    arguments: the kernel's parameters in order, each one of a b c d m n k alpha beta scale_a scale_b, or the name of
    one of `tensor_maps`.
    Row-major A is stored as (M, K) and row-major B as (K, N); column-major operands are stored transposed, A as (K, M)
    and B as (N, K). C and D are row-major (M, N).
    scale_a, of shape (⌈K/128⌉, M), and scale_b, of shape (⌈N/128⌉, ⌈K/128⌉), are f32 factors: element (m, k) of A
    stands for A[m, k] · scale_a[k // 128, m], and (k, n) of B for B[k, n] · scale_b[n // 128, k // 128].
    """

    formula: str
    dtype_in: str
    dtype_acc: str
    dtype_out: str
    layout_a: str
    layout_b: str
    arguments: tuple[str, ...]
    compute: str = ""
    tensor_maps: tuple[tuple[str, MapSpec], ...] = ()
    promotion: int = 0

    def configured(self, config: Mapping[str, int]) -> Problem:
        """The problem with the boxes and swizzles of its tensor maps as numbers, for this configuration."""
        return replace(self, tensor_maps=tuple((name, spec.configured(config)) for name, spec in self.tensor_maps))

    @property
    def tokens(self) -> list[Any]:
        """The arguments in order; a tensor map is ("map", operand, box, swizzle)."""
        maps = dict(self.tensor_maps)
        return [
            ("map", maps[name].array, maps[name].box, maps[name].swizzle) if name in maps else name
            for name in self.arguments
        ]

    @property
    def arrays(self) -> list[str]:
        """The arrays that a launch returns, in its order; one that only tensor maps use has the first map's place."""
        known = (*MATRICES, *SCALES)
        maps, direct, found = dict(self.tensor_maps), {name for name in self.arguments if name in known}, []
        for name in self.arguments:
            matrix = maps[name].array if name in maps else name
            if name in direct or (name in maps and matrix not in direct and matrix not in found):
                found.append(matrix)
        return found

    @property
    def multiplied(self) -> str:
        """The type in which A and B are multiplied."""
        return self.compute or self.dtype_in

    @property
    def uses_c(self) -> bool:
        """Whether the operation reads C, and so has the parameters alpha and beta."""
        return "c" in self.arrays

    @property
    def scaled(self) -> bool:
        """Whether the operation multiplies A and B by `scale_a` and `scale_b`."""
        return "scale_a" in self.arrays

    def dtype(self, operand: str) -> str:
        """The type in which an array is stored."""
        return "f32" if operand in SCALES else self.dtype_in if operand in "ab" else self.dtype_out

    def shape(self, operand: str, m: int, n: int, k: int) -> tuple[int, int]:
        """(rows, columns) of an array as it is stored, for an m by n by k product."""
        blocks_n, blocks_k = -(-n // SCALE_BLOCK), -(-k // SCALE_BLOCK)
        logical = {
            "a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n),
            "scale_a": (blocks_k, m), "scale_b": (blocks_n, blocks_k),
        }[operand]  # fmt: skip
        layout = {"a": self.layout_a, "b": self.layout_b}.get(operand, "row")
        return logical if layout == "row" else logical[::-1]

    def flops(self, m: int, n: int, k: int) -> int:
        """Floating-point operations of the product: 2·M·N·K (the epilogue is not counted)."""
        return 2 * m * n * k
