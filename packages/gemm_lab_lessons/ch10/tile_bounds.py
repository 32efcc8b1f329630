"""Upper bounds for the speed of a persistent kernel that computes whole tiles.

The bounds come from the tensor cores, from the distribution of tiles over multiprocessors, and from the bytes per FLOP
of shared memory, L2 and DRAM. Each states its assumptions; none is a measurement.

    for row in tile_bounds(hardware.B200, 4096, 4096, 4096): print(row.what, row.text, row.bound_tflops)

The tensor cores of a B200 read A and B from shared memory, each operand of a tile once. If two blocks multiply as a
pair (tcgen05 with cta_group::2), each loads half of B, and both use all of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SizeError
from gpu_simulator.hardware.data_sheets import Gpu

FLOP_PER_CLOCK = 4096  # of one SM: wgmma.m64n256k16 has 2 · 64 · 256 · 16 operations and takes 128 cycles

OPERAND_BYTES = 2  # BF16 and FP16, and D as it is stored


@dataclass(frozen=True)
class BoundRow:
    """One line of the table: `value` in `unit`, and the bound for the whole GPU.

    bound_tflops: None if it needs a figure that is not published.   source: of the GPU's figure.
    """

    what: str
    value: float
    unit: str
    text: str
    bound_tflops: float | None
    assumes: str
    source: str


@dataclass(frozen=True)
class Tail:
    """Rounds in which `workers` (blocks or pairs of blocks) compute `tiles` tiles, one tile each per round."""

    tiles: int
    workers: int

    @property
    def waves(self) -> int:
        """Number of rounds, which is also the largest number of tiles of one worker."""
        return -(-self.tiles // self.workers)

    @property
    def last(self) -> int:
        """Number of tiles in the last round."""
        return self.tiles - (self.waves - 1) * self.workers

    @property
    def efficiency(self) -> float:
        """Share, 0 to 1, of the workers' time in which they compute, if all tiles take equally long."""
        return self.tiles / (self.waves * self.workers)


@checked
def tail(m: int, n: int, block: tuple[int, int], workers: int) -> Tail:
    """The tail of an M × N result in tiles of `block`; a partial tile counts as a whole one.

    Raises `SizeError` for a number below 1.
    """
    if min(m, n, *block, workers) < 1:
        raise SizeError(
            f"M, N, tiles and workers are at least 1; {m} × {n} in {block[0]} × {block[1]} over {workers} "
            "is not possible."
        )
    return Tail(-(-m // block[0]) * -(-n // block[1]), workers)


@checked
def tile_bounds(
    gpu: Gpu,
    m: int,
    n: int,
    k: int,
    block: tuple[int, int, int] = (128, 256, 64),
    pair: bool = False,
    dtype: tuple[str, str] = ("bf16", "f32"),
) -> list[BoundRow]:
    """The bounds for an M × N × K product, with one block per multiprocessor.

    block: its tile, (BLOCK_M, BLOCK_N, BLOCK_K).
    pair: two blocks multiply together; their tile has 2 · BLOCK_M rows, and each loads and reads half of B.
    dtype: (input, accumulator), a key of the GPU's peaks.   Raises `LabError` for a peak that is not known.
    """
    block_m, block_n, block_k = block
    blocks = 2 if pair else 1
    peak, flops = gpu.peak(*dtype), 2 * m * n * k
    turns = tail(m, n, (block_m * blocks, block_n), gpu.sms // blocks)
    each = peak * 1e12 / gpu.sms  # FLOP/s of one multiprocessor
    per_block = 2 * block_m * block_n * block_k  # FLOP of one k tile and one block
    read = (block_m + block_n / blocks) * block_k * OPERAND_BYTES  # bytes of their operands, loaded once and read once
    once = (m * k + k * n + m * n) * OPERAND_BYTES  # every matrix moved once
    smem_gbps, intensity = each * read / per_block / 1e9, per_block / read
    # FLOP of a multiprocessor in a cycle, a power of two on all GPUs; a clock that is not published is near 1.7 GHz.
    flop_per_clock = 2 ** round(math.log2(each / ((gpu.boost_mhz or 1700) * 1e6)))
    reads = read / gpu.smem_bytes_per_clock / (per_block / flop_per_clock)  # share of the products' cycles
    worker = "pairs of multiprocessors" if pair else "multiprocessors"
    return [
        BoundRow(
            "tensor cores",
            peak,
            "TFLOPS",
            f"{peak:,.0f} TFLOPS, dense",
            peak,
            "the data sheet's clock; power does not lower it",
            gpu.sources["tensor_tflops"],
        ),
        BoundRow(
            "tiles over multiprocessors",
            turns.efficiency,
            "share",
            f"{turns.tiles:,} tiles over {turns.workers} {worker}: {turns.waves} rounds, {turns.last} in the last",
            peak * turns.efficiency,
            "every tile takes equally long; nothing overlaps the end of the last wave",
            gpu.sources["sms"],
        ),
        BoundRow(
            "shared memory",
            smem_gbps,
            "GB/s a multiprocessor",
            f"{read / 1024:,.0f} KB a k tile, {intensity:,.1f} FLOP/byte: "
            f"reads take {reads:.0%} of the products' cycles",
            min(peak, peak / reads),
            f"{gpu.smem_bytes_per_clock} bytes a clock; operands are read once a product; writes not counted",
            gpu.sources["smem_bytes_per_clock"],
        ),
        BoundRow(
            "L2",
            peak * 1000 / intensity,
            "GB/s",
            f"{intensity:,.1f} FLOP/byte: {peak / intensity:,.1f} TB/s of loads at the full rate",
            None if gpu.l2_measured_gbps is None else min(peak, intensity * gpu.l2_measured_gbps / 1000),
            "every block loads its own tiles; no multicast",
            gpu.sources.get("l2_measured_gbps", "not published"),
        ),
        BoundRow(
            "DRAM, each matrix once",
            flops / once,
            "FLOP/byte",
            f"{once / 1e6:,.0f} MB in {once / gpu.dram_gbps / 1000:,.0f} µs",
            min(peak, flops / once * gpu.dram_gbps / 1000),
            "L2 keeps all that is used again",
            gpu.sources["dram_gbps"],
        ),
        BoundRow(
            "DRAM, no reuse in L2",
            intensity,
            "FLOP/byte",
            f"L2 has to serve {max(0.0, 1 - intensity * gpu.dram_gbps / 1000 / peak):.0%} of the loads",
            min(peak, intensity * gpu.dram_gbps / 1000),
            "every load of every block comes from DRAM",
            gpu.sources["dram_gbps"],
        ),
    ]


def peak_at(mhz: float, sms: int) -> float:
    """TFLOPS of all tensor cores at this clock, BF16 with FP32 sums."""
    return FLOP_PER_CLOCK * sms * mhz / 1e6


def bytes_per_clock(block_m: int, block_n: int) -> float:
    """Bytes of A and B in BF16 that an SM needs in each clock cycle to keep its tensor cores busy with such tiles."""
    return FLOP_PER_CLOCK * (block_m + block_n) / (block_m * block_n)
