"""Writes the generated blocks of README.md: the results, and the table of notebooks and GPUs."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.lab.here import RECORDED_ON
from gemm_lab.notebook.scoreboard import scoreboard
from gemm_results.cards.scoreboard import Board
from gemm_results.results import Measurement
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.data_sheets import GPUS, gpu

SIZES = (4096, 8192)
COLUMNS = {"T4": "t4", "A100": "a100", "RTX 5090": "rtx5090", "H100, H200": "h200", "B200": "b200"}
RUNS, SOME, SIMULATES = "●", "◐", "○"
CONDITIONS = (
    "Sustained, in turns with cuBLAS in the same run; clocks not locked. *cuBLAS* is what it chooses by itself, "
    "*cuBLASLt’s best* the fastest that its heuristic offers; *tuned* has the tile that a sweep on this GPU chose for "
    "the size (`results/tuned`). `simt` multiplies in FP32, `t4` in "
    "FP16 with FP16 sums, `hopper_fp8` in E4M3, beside the kind of cuBLASLt that adds as it does, the others in BF16 "
    "or FP16 with FP32 sums."
)


def results() -> str:
    """Markdown of a table for each GPU with recorded rows, and the names of the GPUs without."""
    measured = [key for key in GPUS if (data_dir("results") / "measured" / f"{key}.csv").is_file()]
    measured.sort(key=lambda key: key != RECORDED_ON)
    names = {
        key: gpu(key).name.removeprefix("Tesla ").removeprefix("GeForce ").split("-")[0].split(" SXM")[0]
        for key in GPUS
    }
    without = [name for key, name in names.items() if key not in measured]
    text = "\n\n".join([*map(_table, measured), CONDITIONS])
    if not without:
        return text
    them = f"{', '.join(without[:-1])} and {without[-1]}" if without[1:] else without[0]
    return (
        f"{text}\n\n**Not measured:** {them}. Kernels are compiled for them and simulated, and those that an H200 "
        "can run were timed there. What others have published is marked as published, in `results/published.csv` "
        "and wherever it is shown."
    )


def _table(key: str) -> str:
    """Markdown of the fastest rung of each ladder at each size on one GPU, with the conditions of the recording."""
    boards = [board for n in SIZES if (board := _board(n, key))]
    if not boards:
        return f"*{gpu(key).name}: rows, but none at {' or '.join(map(str, SIZES))}, sustained.*"
    head = ["ladder", *(f"fastest at {board.n} | TFLOPS | of cuBLAS | of cuBLASLt’s best" for board in boards)]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---|--:|--:|--:|" * len(boards)]
    for name in dict.fromkeys(_line(row) for board in boards for rungs in board.ladders.values() for row in rungs):
        lines.append(f"| {name} | {' | '.join(_fastest(board, name) for board in boards)} |")
    rows = [row for board in boards for rungs in board.ladders.values() for row in rungs]
    said = {
        column: ", ".join(sorted({str(getattr(row, column)) for row in rows}))
        for column in ("gpu", "driver", "cuda", "date", "commit")
    }
    rounds = sorted({row.rounds for row in rows})
    told = f"{rounds[0]} to {rounds[-1]}" if rounds[1:] else rounds[0]
    return "\n".join(
        [
            *lines,
            "",
            (
                f"Recorded on {said['gpu']}: driver {said['driver']}, CUDA {said['cuda']}, {said['date']}, "
                f"commit{'s' * (',' in said['commit'])} {said['commit']}; median of {told} rounds."
            ),
        ]
    )


def _board(n: int, key: str) -> Board | None:
    try:
        return scoreboard(n, on=key, eight_bits=True)
    except SimulatorError:
        return None


def _line(row: Measurement) -> str:
    """The line of the table to which a rung's row belongs: its ladder, in 8 bits also what becomes of its sums."""
    problem = catalog.kernel(row.kernel).problem
    if not catalog.ladder(row.ladder).eight_bits:
        return row.ladder
    return f"{row.ladder}, {'block scales' if problem.scaled else 'promoted' if problem.promotion else 'fast sums'}"


def _fastest(board: Board, line: str) -> str:
    own = [row for rungs in board.ladders.values() for row in rungs if _line(row) == line]
    if not own:
        return " |  |  | "
    best = max([*own, *(row for row in board.tuned if _line(row) == line)], key=lambda row: row.tflops)
    shares = (f"{100 * share:.1f} %" if share else "" for share in (best.ratio_cublas, best.ratio_cublaslt))
    tuned = "" if best in own else ", tuned"
    return f"`{best.kernel.split('/')[1]}`{tuned} | {best.tflops:.1f} | {' | '.join(shares)}"


def matrix() -> str:
    """Markdown of the table: one row per notebook and one column per GPU.

    A cell says that all kernels of the notebook run on the GPU, that some do, or that the simulator runs them.
    """
    lines = [f"| | notebook | {' | '.join(COLUMNS)} | no GPU |", "|---|---|" + ":-:|" * (len(COLUMNS) + 1)]
    for path in sorted(data_dir("notebooks").glob("*.ipynb")):
        kernels = [kernel for name in ladders_of(path) for kernel in catalog.ladder(name).kernels]
        cells = [_runs(kernels, gpu(key).arch) for key in COLUMNS.values()]
        first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
        number, title = re.match(r"# (\d\d[a-c]?) · (.+)", "".join(first["source"])).groups()
        lines.append(
            f"| {number} | [{title}](notebooks/{path.name}) | {' | '.join(cells)} | {SIMULATES if kernels else RUNS} |"
        )
    return "\n".join(lines)


@cache
def ladders_of(path: Path) -> tuple[str, ...]:
    """The ladders that a notebook teaches; if it teaches none, those whose kernels its cells name."""
    own = tuple(name for name, spec in catalog.ladders().items() if spec.notebook == path.stem and spec.kernels)
    if own:
        return own
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return tuple(name for name in catalog.ladders() if re.search(rf'(?:"|%%kernel ){name}/|ladder\("{name}"\)', code))


def _runs(kernels: list[catalog.KernelSpec], arch: str) -> str:
    there = [kernel.written_for(arch) for kernel in kernels]
    return RUNS if all(there) else SOME if any(there) else SIMULATES


BLOCKS = {"results": results, "matrix": matrix}
