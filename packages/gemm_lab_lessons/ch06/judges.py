"""The right numbers of the short exercises of notebooks 06a and 06b."""

from __future__ import annotations

from gemm_lab.lab import kernel
from gemm_lab_lessons.shared.numbers import Right, by_numbers
from gpu_simulator.hardware.banks import SECTOR_BYTES

HALF = 2  # bytes


def in_flight() -> Right:
    """The bytes that a block of t4/01 and of t4/02 has on their way from global memory at most."""
    c = kernel("t4/02_vectorized_copy").config
    threads = 32 * c["NUM_WARPS_M"] * c["NUM_WARPS_N"]
    return {"bytes_01": threads * HALF, "bytes_02": (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * HALF}


def store_sectors() -> Right:
    """The sectors that one warp writes for its tile of D: straight from the fragments, and in whole rows."""
    c = kernel("t4/07_staged_epilogue").config
    bytes_of_d = c["BLOCK_M"] // c["NUM_WARPS_M"] * c["BLOCK_N"] // c["NUM_WARPS_N"] * HALF
    return {"direct": bytes_of_d // (8 * HALF), "staged": bytes_of_d // SECTOR_BYTES}


JUDGES = {"in_flight": by_numbers(in_flight), "store_sectors": by_numbers(store_sectors)}
