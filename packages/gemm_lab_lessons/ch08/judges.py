"""The right numbers of the short exercises of notebook 08."""

from __future__ import annotations

from gemm_lab.lab import kernel
from gemm_lab_lessons.shared.numbers import Right, by_numbers
from gpu_simulator.hardware.tensor_map import TensorMap

EDGE = (130, 250, 40)  # M, N and K of the product of 08_edge
TILE = (128, 256, 32)


def edge() -> Right:
    """The bytes that the last tile of a product of any size announces: those of both whole boxes."""
    m, n, k = EDGE
    boxes = [
        TensorMap.of_shape("bf16", (rows, k), box=(TILE[2], tall), swizzle=64)
        for rows, tall in ((m, TILE[0]), (n, TILE[1]))
    ]
    return {"bytes": sum(one.row_bytes * one.box[1] for one in boxes)}


def arrivals() -> Right:
    """With how many arrivals rtx5090/02 initialises the barriers of a stage, if four warps multiply."""
    c = kernel("rtx5090/02_producer_warp").spec.configure()
    return {"full": 1, "empty": c["NUM_WARPS_M"] * c["NUM_WARPS_N"]}


JUDGES = {"edge": by_numbers(edge), "arrivals": by_numbers(arrivals)}
