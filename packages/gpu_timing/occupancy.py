"""Computes how many blocks of a kernel fit on one SM at once, and which resource limits that number.

The rules are those of `cuda_occupancy.h` of the CUDA Toolkit 13.0, for the largest shared-memory carve-out: registers
are allocated to each warp in units of 256, and each quarter of an SM has its own register file; shared memory is
rounded up to 256 bytes (sm_75) or 128 (sm_80 and later), after adding the 1 KB that the system reserves for each block
from sm_80 on.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import LaunchError
from gpu_simulator.hardware.data_sheets import Gpu
from gpu_simulator.hardware.data_sheets import gpu as gpu_of

WARP = 32


@dataclass(frozen=True)
class Occupancy:
    """Resident blocks and warps of an SM. `limits` has the number of blocks that each resource alone would allow."""

    blocks: int
    warps: int
    fraction: float  # resident warps / most warps an SM can hold
    limits: dict[str, int]  # "block slots", "shared memory", "registers", "threads"
    binding: str  # the resource with the smallest limit; several that tie are joined: "registers and threads"
    text: str

    @property
    def limit(self) -> str:
        """What limits the blocks, as a label: "limit: registers", "limits: registers and threads"."""
        return f"limit{'s' * (' and ' in self.binding)}: {self.binding}"


@checked
def occupancy(gpu: Gpu | str, threads: int, registers: int, smem_bytes: int) -> Occupancy:
    """Occupancy of a kernel with `threads` and `smem_bytes` for each block and `registers` for each thread.

    `smem_bytes` is static plus dynamic shared memory, without what the system reserves. Raises `LaunchError` for a
    kernel that cannot start on this GPU.
    """
    gpu = gpu_of(gpu)
    _require_launchable(gpu, threads, registers, smem_bytes)
    warps_per_block, taken = -(-threads // WARP), _smem_taken(gpu, smem_bytes)
    limits = {
        "block slots": gpu.max_blocks_per_sm,
        "shared memory": gpu.smem_per_sm // taken if taken else gpu.max_blocks_per_sm,
        "registers": _warps_by_registers(gpu, registers) // warps_per_block,
        "threads": gpu.max_threads_per_sm // WARP // warps_per_block,
    }
    blocks = min(limits.values())
    tied = [name for name, most in limits.items() if most == blocks and (taken or name != "shared memory")]
    binding = " and ".join([", ".join(tied[:-1]), tied[-1]] if len(tied) > 1 else tied)
    warps = blocks * warps_per_block
    most = gpu.max_threads_per_sm // WARP
    text = (
        f"{blocks} block{'s' * (blocks != 1)} of {threads} threads on each SM of the {gpu.name}: "
        f"{warps} of {most} warps ({warps / most:.0%}). "
        f"{'The limit is' if len(tied) == 1 else 'The limits are'} {binding}."
    )
    return Occupancy(blocks, warps, warps / most, limits, binding, text)


def _require_launchable(gpu: Gpu, threads: int, registers: int, smem_bytes: int) -> None:
    if not 1 <= threads <= gpu.max_threads_per_block:
        raise LaunchError(f"A block has 1 to {gpu.max_threads_per_block} threads, not {threads}.")
    if not 1 <= registers <= gpu.max_registers_per_thread:
        raise LaunchError(f"A thread has 1 to {gpu.max_registers_per_thread} registers, not {registers}.")
    if not 0 <= smem_bytes <= gpu.smem_per_block:
        raise LaunchError(
            f"This kernel asks for {smem_bytes:,} bytes of shared memory a block; the {gpu.name} gives it "
            f"0 to {gpu.smem_per_block:,}. Use smaller tiles or fewer stages."
        )
    warps = -(-threads // WARP)
    # The hardware checks as if the warps were spread evenly over the four quarters of the SM.
    spread = -(-warps // gpu.warp_schedulers) * gpu.warp_schedulers
    if spread * _registers_per_warp(gpu, registers) > gpu.registers_per_sm:
        most = gpu.registers_per_sm // spread // gpu.register_alloc_unit * gpu.register_alloc_unit // WARP
        raise LaunchError(
            f"{threads} threads with {registers} registers each need more than the {gpu.registers_per_sm:,} "
            f"registers of an SM; a block of this size can have {most} a thread."
        )


def _registers_per_warp(gpu: Gpu, registers: int) -> int:
    unit = gpu.register_alloc_unit
    return -(-registers * WARP // unit) * unit


def _warps_by_registers(gpu: Gpu, registers: int) -> int:
    quarter = gpu.registers_per_sm // gpu.warp_schedulers
    return quarter // _registers_per_warp(gpu, registers) * gpu.warp_schedulers


def _smem_taken(gpu: Gpu, smem_bytes: int) -> int:
    unit = gpu.smem_alloc_unit
    return -(-(smem_bytes + gpu.smem_reserved_per_block) // unit) * unit
