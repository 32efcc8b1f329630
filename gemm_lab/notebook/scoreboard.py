"""`scoreboard()`: the measured kernels of all ladders at one size, the gain of each rung, and published results.

from gemm_lab.notebook.scoreboard import scoreboard
board = scoreboard(4096)
board                      the fastest rung of each ladder
board.plot()               all kernels, relative to cuBLAS and to the ceiling of the same run
board.gains("hopper")      each rung relative to the one that it extends, only within one run
board.published("t4")      the published fraction of cuBLAS's speed, and the fraction measured here
"""

from __future__ import annotations

from gemm_lab import catalog
from gemm_lab.lab.here import RECORDED_ON, here
from gemm_lab.lab.ladder import measured_ladders
from gemm_lab.lab.tuning import current
from gemm_results import results
from gemm_results.cards.scoreboard import Board
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked
from gpu_simulator.hardware import data_sheets as hardware

REGIME, SIZE = "sustained", 4096


@checked
def scoreboard(n: int = SIZE, regime: str = REGIME, on: str | None = None, eight_bits: bool = False) -> Board:
    """The board of GPU `on` at n × n × n, from recorded rows.

    The default is the GPU here if it has recorded rows, else the H200. regime: "sustained" or "burst". Rows of settings
    that are neither a rung's own on this GPU nor the choice in results/tuned are left out, and so are ladders in 8 bits
    without `eight_bits`: their products are no others' rivals. Raises `LabError` if there are no rows.
    """
    present = here().present if on is None else None
    name = present.name if present is not None and results.read(results.path_for(present)) else on or RECORDED_ON
    mine = present if present is not None and name == present.name else None
    path = results.path_for(mine) if mine else results.path_of(name)
    found = [row for row in results.read(path) if (row.m, row.n, row.k) == (n, n, n) and row.regime == regime]
    found = [row for row in found if eight_bits or not row.dtype.startswith("e4m3")]
    sheet = mine.gpu if mine else hardware.gpu(name)
    rows, tuned = current(found, sheet.key if sheet else None)
    if not rows:
        raise LabError(f"Nothing was recorded at {n}, {regime}, on {name}; `make record` on that GPU does it.")
    order = {spec.name: place for place, spec in enumerate(catalog.kernels().values())}
    ladders = [name for name in reading_order() if eight_bits or not catalog.ladder(name).eight_bits]
    rank = {name: place for place, name in enumerate(ladders)}
    rows.sort(key=lambda row: (rank.get(row.ladder, len(rank)), order.get(row.kernel, len(order)), row.kernel))
    measured = {row.ladder for row in rows}
    missing = tuple(name for name in ladders if name not in measured)
    return Board(rows[0].gpu, n, regime, tuple(rows), catalog, missing, path, tuple(tuned))


def reading_order() -> list[str]:
    """The names of the measured ladders, in the order of the notebooks that teach them."""
    return sorted(measured_ladders(), key=lambda name: catalog.ladder(name).notebook)
