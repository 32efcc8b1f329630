"""The wavefronts in which one wgmma reads its operands from shared memory.

Recorded on an H200 for BF16, the 128-byte swizzle and K-major operands (memory_l1_wavefronts_shared of the Hopper
ladder, results/profiles/h200/rungs.csv): 48 for an m64n128k16, 80 for an m64n256k16.
"""

from __future__ import annotations

from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.banks import LINE_BYTES

MMA_M, MMA_N, MMA_K, ELEMENT_BYTES = 64, 256, 16, 2  # the largest wgmma of 16-bit elements


def wavefronts(columns: int) -> int:
    """Wavefronts in which one wgmma of 64 × columns × 16 reads 64 rows of A and `columns` columns of B.

    Raises `ConfigError` unless columns is a multiple of 8 up to 256, the widths that wgmma has (PTX ISA, "wgmma").
    """
    if columns not in range(8, MMA_N + 1, 8):
        raise ConfigError(f"A wgmma has 8, 16, … 256 columns, and not {columns}.")
    return (MMA_M + columns) * MMA_K * ELEMENT_BYTES // LINE_BYTES
