"""The picture of README.md: every kernel that was recorded on the H200, from results/measured."""

from gemm_lab.notebook.scoreboard import scoreboard as recorded


def scoreboard():
    """All ladders side by side at 4096, with the fastest kernel highlighted."""
    board = recorded(4096, on="h200")
    best = max((row for rungs in board.ladders.values() for row in rungs), key=lambda row: row.tflops)
    return board.plot(lit=best.kernel)
