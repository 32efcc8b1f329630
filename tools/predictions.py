"""Predicts what was recorded once more, after a change of the time model, of a constant or of a kernel.

    python -m tools.predictions

writes results/predicted/<gpu>.csv, the predicted cycles of every rung with a recorded card, and
results/predicted/bursts.csv, the predicted speeds of every recorded burst. The blind trials in results/blind and the
predictions of published ladders were written once, by the model of that day, and are not written again; the programs
that drew, predicted and recorded them are in the history of this repository, as `tools/blind.py`.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.lab.actions.predicting import attempted, prediction
from gemm_lab.measure.known_speeds import BURSTS
from gemm_lab.source_text import parse_settings
from gemm_results import results
from gemm_results.profile import read_rows
from gpu_simulator.errors import SimulatorError
from gpu_timing.cycles.constants_file import known
from tools.recording.cards import write_rows

FAMILIES = ("simt", "first_kernels", "t4", "ampere", "wmma", "rtx5090", "hopper", "hopper_fp8")
TESTED = ("h200", "h100")
LEAST_N = 2048  # a burst of smaller products is not predicted


def predicted_rung(card: dict[str, str], gpu: str) -> dict[str, object]:
    """The predicted cycles, main stall reason and busiest unit of a recorded card, or why there is no prediction."""
    row: dict[str, object] = {name: card[name] for name in ("kernel", "config", "n")}
    n = int(card["n"])
    try:
        found = prediction(lab.kernel(card["kernel"], **parse_settings(card["config"].split())), gpu, n, n, n)
    except SimulatorError as error:
        return row | {"cycles": "", "top_stall": "", "unit": "", "failed": str(error)}
    return row | {
        "cycles": round(found.cycles),
        "top_stall": found.top_reason,
        "unit": found.binding[0],
        "failed": "",
    }


def bursts() -> list[tuple[str, str, str, int]]:
    """(GPU, kernel, configuration, n) of every rung that was recorded in a burst, where its products are large."""
    return [
        (gpu, row.kernel, row.config, row.n)
        for gpu in TESTED
        for row in results.recorded(gpu)
        if row.regime == "burst" and row.kernel.split("/")[0] in FAMILIES and row.m == row.n == row.k >= LEAST_N
    ]


def predicted_burst(row: tuple[str, str, str, int]) -> dict[str, object]:
    """The row of bursts.csv; `tflops` is empty where a card has none: the model fails, or does not see what decides."""
    gpu, name, config, n = row
    found = attempted(lab.kernel(name, **parse_settings(config.split())), gpu, n)
    speed = "" if isinstance(found, str) or found.gap else f"{2e-12 * n**3 / found.prediction.seconds:.4g}"
    return {"gpu": gpu, "kernel": name, "config": config, "n": n, "tflops": speed}


def main() -> int:
    """Write all files; returns 0."""
    folder = data_dir("results") / "predicted"
    with ProcessPoolExecutor(2) as pool:
        for gpu in known():
            if cards := read_rows(data_dir("results") / "profiles" / gpu / "cards.csv"):
                write_rows(folder / f"{gpu}.csv", list(pool.map(predicted_rung, cards, [gpu] * len(cards))))
        write_rows(folder / BURSTS, list(pool.map(predicted_burst, bursts())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
