"""The roofline model: how fast a kernel can be, given how many bytes it moves.

`attainable = min(intensity x bandwidth, peak)`. TFLOPS are 10^12 FLOP/s, GB/s are 10^9 bytes/s, an intensity
or a balance point is in FLOP per byte. Machine numbers come from `gpu_simulator.hardware.data_sheets`, with their
sources.

The T4 article (docs/REFERENCES.md) uses three kinds of figures for the T4:
  data sheet  65 TFLOPS tensor, 320 GB/s DRAM
  measured    by that article: 49.439 TFLOPS (cuBLAS half precision), 7.455 TFLOPS (cuBLAS single, FFMA);
              quoted there from arXiv:1903.07486: 220 GB/s DRAM, 3662 GB/s shared memory; also 1280 GB/s L2
  truncated   the article writes 224, 38, 13 and 33 for the balance points 224.7, 38.6, 13.5 and 33.9
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SizeError
from gpu_simulator.hardware.data_sheets import Gpu
from gpu_simulator.hardware.data_sheets import gpu as gpu_of

CUBLAS_HGEMM_T4 = 49.439  # TFLOPS, measured in the T4 article
CUBLAS_SGEMM_T4 = 7.455  # TFLOPS, measured in the T4 article
PEAK_T4 = 65.0  # TFLOPS of the tensor cores in FP16, data sheet
ORDINARY_PEAK_T4 = 8.1  # TFLOPS of the ordinary cores in FP32, data sheet


@checked
def balance(tflops: float, gbps: float) -> float:
    """The balance point: FLOP per byte at which a kernel changes from memory bound to compute bound."""
    _positive(tflops=tflops, gbps=gbps)
    return tflops * 1000 / gbps


@checked
def attainable(intensity: float, tflops: float, gbps: float) -> float:
    """TFLOPS that a kernel of this intensity (FLOP per byte) can reach at most."""
    _positive(tflops=tflops, gbps=gbps, intensity=intensity)
    return min(intensity * gbps / 1000, tflops)


@checked
def intensity(block_m: int, block_n: int, bytes: int = 2) -> float:
    """FLOP per byte read for an output tile of block_m x block_n. The K extent cancels. bytes: of one element.

    A step of depth k does 2*m*n*k FLOP and reads (m + n)*k elements, so the ratio is 2*m*n / ((m + n)*bytes).
    With 2 bytes per element this is m*n / (m + n). Writing the result is not counted.
    """
    _positive(block_m=block_m, block_n=block_n, bytes=bytes)
    return 2 * block_m * block_n / ((block_m + block_n) * bytes)


@checked
def matmul_traffic(n: int, how: str = "tiled", tile: int | tuple[int, int] | None = None) -> int:
    """Elements that an n x n x n product moves between slow and fast memory, reads and writes together.

    naive   every operand is read when it is needed: 2*n^3 + n^2
    tiled   output tiles of `tile` (one number, or rows and columns): n^3/rows + n^3/columns + n^2
    best    fast memory holds everything: 3*n^2

    Raises `LabError` for another `how` or a missing tile, `SizeError` for a tile that does not divide n x n.
    """
    _positive(n=n)
    if how == "naive":
        return 2 * n**3 + n**2
    if how == "best":
        return 3 * n**2
    if how != "tiled":
        raise LabError(f"There is no traffic model {how!r}; choose naive, tiled or best.")
    if tile is None:
        raise LabError("A tiled product needs its tile, such as tile=128 or tile=(256, 128).")
    rows, columns = (tile, tile) if isinstance(tile, int) else tile
    _positive(rows=rows, columns=columns)
    if n % rows or n % columns:
        raise SizeError(f"Tiles of {rows} x {columns} do not divide {n} x {n}; use divisors of {n}.")
    return n**3 // rows + n**3 // columns + n**2


@checked
def rounded_down(intensity: float) -> str:
    """An intensity with at most two decimals, never more than it is: 98.4615 is "98.46", and 64.0 is "64"."""
    return f"{math.floor(100 * intensity + 1e-9) / 100:.2f}".rstrip("0").rstrip(".")


def addition_intensity(bytes: int = 2) -> float:
    """FLOP per byte of a matrix addition of any size: one FLOP, two reads and one write per element."""
    _positive(bytes=bytes)
    return 1 / (3 * bytes)


@checked
def multiplication_intensity(n: int, bytes: int = 2) -> float:
    """The most FLOP per byte that an n x n x n product can have: 2*n^3 FLOP, each matrix moved once; grows with n."""
    _positive(bytes=bytes)
    return 2 * n**3 / (matmul_traffic(n, "best") * bytes)


@dataclass(frozen=True)
class Argument:
    """Compares a tile's intensity with a machine's balance point, both in FLOP per byte."""

    intensity: float
    balance: float
    gbps: float  # the bandwidth behind the balance point

    @property
    def enough(self) -> bool:
        return self.intensity > self.balance

    @property
    def text(self) -> str:
        verdict = "enough: compute bound" if self.enough else "not enough: memory bound"
        return f"{rounded_down(self.intensity)} FLOP/byte against a balance point of {self.balance:.2f}: {verdict}."


@checked
def l2_argument(
    block_m: int = 256,
    block_n: int = 128,
    *,
    tflops: float = 65.0,
    dram_gbps: float = 220.0,
    l2_gbps: float = 1280.0,
    hit_rate: float = 2 / 3,
) -> Argument:
    """Whether a block tile is large enough to be compute bound when L2 serves a share `hit_rate` of its reads.

    DRAM has to deliver what misses in L2, so all reads together get dram_gbps / (1 - hit_rate), and at most l2_gbps.
    The defaults are the T4's data-sheet peak and measured bandwidths, and two of three reads hit. That gives a balance
    point of 98.5: 256 x 128 (85.3) is too small, 256 x 256 (128.0) is large enough. The T4 article assumes that
    half of the reads hit and takes the mean of both bandwidths, 750 GB/s, of which DRAM would have to deliver 375. That
    mean gives 86.7; the article prints 87.24, which an L2 of 1270 GB/s would give. Raises `LabError` for a hit rate
    outside 0 to 1.
    """
    if not 0 <= hit_rate <= 1:
        raise LabError(f"A hit rate lies between 0 and 1; {hit_rate} does not.")
    gbps = l2_gbps if hit_rate == 1 else min(l2_gbps, dram_gbps / (1 - hit_rate))
    return Argument(intensity(block_m, block_n), balance(tflops, gbps), gbps)


@dataclass(frozen=True)
class Level:
    """One memory of a roofline. measured: whether the bandwidth was measured; if not, it is the data sheet's."""

    name: str  # "DRAM", "L2", "shared memory"
    gbps: float
    measured: bool


@dataclass(frozen=True)
class Roofline:
    """One compute peak and the bandwidths of several memories, the slowest first."""

    name: str
    tflops: float
    levels: tuple[Level, ...]

    def balance(self, level: str = "DRAM") -> float:
        """The balance point for one memory, in FLOP per byte. Raises `LabError` if its bandwidth is not known."""
        return balance(self.tflops, self.level(level).gbps)

    def attainable(self, intensity: float, level: str = "DRAM") -> float:
        """TFLOPS that one memory allows at this intensity. Raises `LabError` if its bandwidth is not known."""
        return attainable(intensity, self.tflops, self.level(level).gbps)

    @checked
    def level(self, name: str) -> Level:
        for level in self.levels:
            if level.name == name:
                return level
        known = ", ".join(level.name for level in self.levels)
        raise LabError(f"The roofline of the {self.name} has no bandwidth for {name!r}; it has {known}.")


@checked
def roofline(gpu: Gpu | str, dtype_in: str = "f16", dtype_acc: str = "f32", tflops: float | None = None) -> Roofline:
    """The roofline of a GPU: the measured bandwidths if they are known, and for DRAM otherwise the data sheet's.

    `tflops` replaces the data-sheet peak, for instance by a measured rate (`CUBLAS_HGEMM_T4`).
    """
    gpu = gpu_of(gpu)
    levels = [Level("DRAM", gpu.dram_measured_gbps or gpu.dram_gbps, gpu.dram_measured_gbps is not None)]
    if gpu.l2_measured_gbps:
        levels.append(Level("L2", gpu.l2_measured_gbps, True))
    if gpu.smem_measured_gbps:
        levels.append(Level("shared memory", gpu.smem_measured_gbps, True))
    return Roofline(gpu.name, gpu.peak(dtype_in, dtype_acc) if tflops is None else tflops, tuple(levels))


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise LabError(f"{name} has to be more than 0; {value} is not.")
