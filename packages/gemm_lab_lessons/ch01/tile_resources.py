"""The resources that a choice of tiles needs on a GPU, and the bounds that follow, before any kernel is written.

Registers count only what the tile needs at least (accumulators and the fragments of one mma step). A real kernel needs
more, so its occupancy is at most the one given here. Bandwidths that were not measured for a GPU are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemm_results.roofline_model import attainable, intensity
from gpu_simulator.errors import LaunchError, SizeError
from gpu_simulator.hardware.data_sheets import Gpu
from gpu_timing.occupancy import WARP, Occupancy, occupancy

MMA_K = 8  # K of m16n8k8, the smallest mma of FP16 and BF16 with m16n8


@dataclass(frozen=True)
class TileResources:
    """Resources and bounds of tiles of 16-bit elements.

    smem: bytes per block.   registers: per thread.   bounds: TFLOPS by the name of the limit.
    """

    block: tuple[int, int, int]
    warp: tuple[int, int]
    stages: int
    threads: int
    smem: int
    registers: int
    occupancy: Occupancy | None
    refusal: str  # why no block can be launched; empty if one can
    block_intensity: float  # FLOP per byte
    warp_intensity: float  # FLOP per byte
    bounds: dict[str, float]
    dram_bound: float  # TFLOPS if DRAM served every read

    @property
    def binding(self) -> str:
        """The name of the lowest bound, or why the kernel cannot be launched."""
        return self.refusal or min(self.bounds, key=self.bounds.__getitem__)

    @property
    def attainable(self) -> float:
        """The most TFLOPS if L2 serves what DRAM cannot; 0 if the kernel cannot be launched."""
        return 0.0 if self.refusal else min(self.bounds.values())

    @property
    def hit_rate_needed(self) -> float:
        """The share, 0 to 1, of a block's reads that L2 has to serve so that DRAM is not the limit."""
        return max(0.0, 1 - self.dram_bound / min(self.bounds.values()))


def tile_resources(
    gpu: Gpu, block: tuple[int, int, int], warp: tuple[int, int], stages: int = 1, accumulator: str = "f32"
) -> TileResources:
    """Resources and bounds for a block tile (BLOCK_M, BLOCK_N, BLOCK_K) that is divided into warp tiles.

    stages: buffers in shared memory.   accumulator: "f32" or "f16".   Raises `SizeError` if warp tiles do not divide
    the block tile or are not multiples of an m16n8k8 mma, or for fewer than one stage.
    """
    (block_m, block_n, block_k), (warp_m, warp_n) = block, warp
    if warp_m % 16 or warp_n % 8 or block_k % MMA_K or min(*block, *warp) < 1:
        raise SizeError(
            f"A warp tile is a multiple of 16 × 8 and BLOCK_K of {MMA_K}, for m16n8k8; "
            f"{warp_m} × {warp_n} and {block_k} are not."
        )
    if block_m % warp_m or block_n % warp_n:
        raise SizeError(f"Warp tiles of {warp_m} × {warp_n} do not divide a block tile of {block_m} × {block_n}.")
    if stages < 1:
        raise SizeError(f"A kernel has at least one stage, not {stages}.")
    threads = WARP * (block_m // warp_m) * (block_n // warp_n)
    smem = stages * (block_m + block_n) * block_k * 2
    sums = warp_m * warp_n * (4 if accumulator == "f32" else 2) // 4 // WARP
    registers = sums + (warp_m + warp_n) * MMA_K * 2 // 4 // WARP
    found, refusal = None, ""
    try:
        found = occupancy(gpu, threads, registers, smem)
    except LaunchError as error:
        refusal = str(error)
    bounds = {"the tensor cores": gpu.peak("f16", accumulator)}
    of_block, of_warp = intensity(block_m, block_n), intensity(warp_m, warp_n)
    if (smem_gbps := shared_gbps(gpu)) is not None:
        bounds["shared memory"] = attainable(of_warp, bounds["the tensor cores"], smem_gbps)
    if gpu.l2_measured_gbps:
        bounds["L2"] = attainable(of_block, bounds["the tensor cores"], gpu.l2_measured_gbps)
    dram = attainable(of_block, bounds["the tensor cores"], gpu.dram_measured_gbps or gpu.dram_gbps)
    return TileResources(
        tuple(block), tuple(warp), stages, threads, smem, registers, found, refusal, of_block, of_warp, bounds, dram
    )


def shared_gbps(gpu: Gpu) -> float | None:
    """Shared-memory bandwidth of the whole GPU in GB/s: measured, else bytes per clock times the boost clock.

    None if neither the bandwidth nor the boost clock is known.
    """
    if gpu.smem_measured_gbps:
        return gpu.smem_measured_gbps
    return gpu.sms * gpu.smem_bytes_per_clock * gpu.boost_mhz / 1000 if gpu.boost_mhz else None
