"""What a persistent kernel of whole tiles can reach at most.

The tensor cores, tiles over multiprocessors, and bytes per FLOP from shared memory, L2 and DRAM: bounds, each with what
it assumes; none of them is a measurement.

    for row in tile_bounds(hardware.B200, 4096, 4096, 4096): print(row.what, row.text, row.bound_tflops)

The tensor cores of a B200 read A and B from shared memory, a tile's operands once. Two blocks that multiply as a pair
(tcgen05 with cta_group::2) load half of B each, and what is read of it serves both.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SizeError
from gpu_simulator.hardware.data_sheets import Gpu

OPERAND_BYTES = 2  # BF16 and FP16, and D as it is stored


@dataclass(frozen=True)
class BoundRow:
    """One line of the table. `value` in `unit`; `bound_tflops` of the whole GPU, None where it needs a figure that is
    not published. `source` names where the machine's figure comes from.
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
    """Tiles taken in turns by so many workers (blocks or pairs): whole rounds, and the share of the last that works."""

    tiles: int
    workers: int

    @property
    def waves(self) -> int:
        """How many tiles the busiest worker takes."""
        return -(-self.tiles // self.workers)

    @property
    def last(self) -> int:
        """Tiles of the last round."""
        return self.tiles - (self.waves - 1) * self.workers

    @property
    def efficiency(self) -> float:
        """Share of the workers' time in which they work, if every tile takes as long as any other."""
        return self.tiles / (self.waves * self.workers)


@checked
def tail(m: int, n: int, block: tuple[int, int], workers: int) -> Tail:
    """The tail of an M × N result in tiles of `block`; tiles at the edges count whole."""
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
    """The table for an M × N × K product in tiles of `block` (BLOCK_M, BLOCK_N, BLOCK_K), a block a multiprocessor.

    pair: two blocks multiply together; their tile has 2 · BLOCK_M rows, and each loads and reads half of B.
    dtype: (input, accumulator), a key of the GPU's peaks.   Raises `LabError` for a peak that is not known.
    """
    block_m, block_n, block_k = block
    blocks = 2 if pair else 1
    peak, flops = gpu.peak(*dtype), 2 * m * n * k
    turns = tail(m, n, (block_m * blocks, block_n), gpu.sms // blocks)
    each = peak * 1e12 / gpu.sms  # FLOP/s of one multiprocessor
    per_block = 2 * block_m * block_n * block_k  # FLOP of one k tile and one block
    read = (block_m + block_n / blocks) * block_k * OPERAND_BYTES  # bytes that they take, loaded once and read once
    once = (m * k + k * n + m * n) * OPERAND_BYTES  # every matrix moved once
    smem_gbps, intensity = each * read / per_block / 1e9, per_block / read
    clock = smem_gbps * 1000 / gpu.smem_bytes_per_clock  # MHz at which shared memory would just keep up
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
            f"{read / 1024:,.0f} KB a k tile, {intensity:,.1f} FLOP/byte: keeps up above {clock:,.0f} MHz",
            _at_clock(peak, gpu.boost_mhz, clock),
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


def at_most(rows: list[BoundRow]) -> BoundRow:
    """The lowest bound that holds whatever L2 does: of all rows but the one without reuse."""
    return min(
        (row for row in rows if row.bound_tflops is not None and "no reuse" not in row.what),
        key=lambda row: row.bound_tflops,
    )


def _at_clock(peak: float, boost_mhz: int | None, needed_mhz: float) -> float | None:
    return None if boost_mhz is None else min(peak, peak * boost_mhz / needed_mhz)
