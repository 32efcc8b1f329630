"""The generated blocks of README.md: the results, and which notebook runs on which GPU."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from gemm_lab import catalog
from gemm_lab.api.scoreboard import Board, scoreboard
from gemm_lab.config import data_dir
from gemm_lab.hardware import gpu

SIZES = (4096, 8192)
COLUMNS = {"T4": "t4", "A100": "a100", "RTX 5090": "rtx5090", "H100, H200": "h200", "B200": "b200"}
RUNS, SOME, EMULATES = "●", "◐", "○"


def results() -> str:
    """The fastest rung of each ladder at each size, and under which conditions it was recorded."""
    boards = [scoreboard(n, on="h200") for n in SIZES]
    head = ["ladder", *(f"fastest at {n} | TFLOPS | of cuBLAS" for n in SIZES)]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---|--:|--:|" * len(SIZES)]
    for name in boards[0].ladders:
        cells = " | ".join(_fastest(board, name) for board in boards)
        lines.append(f"| {name} | {cells} |")
    rows = [row for board in boards for rungs in board.ladders.values() for row in rungs]
    said = {column: sorted({getattr(row, column) for row in rows})
            for column in ("gpu", "driver", "cuda", "date", "commit")}
    caption = (f"Recorded on one {', '.join(said['gpu'])}: driver {', '.join(said['driver'])}, CUDA "
               f"{', '.join(said['cuda'])}, {', '.join(said['date'])}, commits {', '.join(said['commit'])}. Sustained, "
               "median of 30 rounds, in turns with cuBLAS in the same run; clocks not locked. `simt` multiplies in "
               "FP32, `t4` in FP16 with FP16 sums, the others in BF16 or FP16 with FP32 sums.")
    missing = ", ".join(f"`{name}`" for name in boards[0].missing)
    return "\n".join([*lines, "", caption + (f" Not recorded: {missing}." if missing else "")])


def _fastest(board: Board, ladder: str) -> str:
    if ladder not in board.ladders:
        return " |  | "
    best = board.best(ladder)
    share = f"{100 * best.ratio_cublas:.1f} %" if best.ratio_cublas else ""
    return f"`{best.kernel.split('/')[1]}` | {best.tflops:.1f} | {share}"


def matrix() -> str:
    """A row a notebook, a column a GPU: its kernels run there, some of them do, or the emulator runs them."""
    lines = [f"| | notebook | {' | '.join(COLUMNS)} | no GPU |", "|---|---|" + ":-:|" * (len(COLUMNS) + 1)]
    for path in sorted(data_dir("notebooks").glob("*.ipynb")):
        kernels = [kernel for name in ladders_of(path) for kernel in catalog.ladder(name).kernels]
        cells = [_runs(kernels, gpu(key).arch) for key in COLUMNS.values()]
        first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
        number, title = re.match(r"# (\d\d) · (.+)", "".join(first["source"])).groups()
        lines.append(f"| {number} | [{title}](notebooks/{path.name}) | {' | '.join(cells)} | "
                     f"{EMULATES if kernels else RUNS} |")
    return "\n".join(lines)


@cache
def ladders_of(path: Path) -> tuple[str, ...]:
    """The ladders that a notebook teaches, or, where it teaches none, whose kernels its cells name."""
    own = tuple(name for name, spec in catalog.ladders().items() if spec.notebook == path.stem and spec.kernels)
    if own:
        return own
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return tuple(name for name in catalog.ladders()
                 if re.search(rf'(?:"|%%kernel ){name}/|ladder\("{name}"\)', code))


def _runs(kernels: list[catalog.KernelSpec], arch: str) -> str:
    there = [arch in kernel.targets or arch.removesuffix("a") in kernel.targets for kernel in kernels]
    return RUNS if all(there) else SOME if any(there) else EMULATES


BLOCKS = {"results": results, "matrix": matrix}
