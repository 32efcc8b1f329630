"""How far predicted cycles were from measured ones in blind trials: the files in `results/blind`.

Each folder is a campaign: `variants.csv` was drawn with a seed, `predicted.csv` committed before anything was measured,
`recorded.csv` measured with Nsight Compute. `base.csv` has what the same model predicts for the recorded rungs that the
variants were made from: these were known to its authors, so they count for no error, and only as what a variant is
compared with. The errors are computed here, and nowhere written down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import mean, median

from gemm_results.data_folders import data_dir
from gemm_results.profile import read_rows
from gpu_simulator.hardware import data_sheets

KEY = ("kernel", "config", "n", "idea", "edit")


@dataclass(frozen=True)
class Trial:
    """One variant. error: predicted cycles over recorded ones, less 1.   stall: predicted and recorded top reason.
    seconds: the recorded time, 0 if it was not recorded.
    """

    campaign: str
    kernel: str
    config: str
    n: int
    change: str
    gpu: str
    predicted: float
    recorded: float
    stall: tuple[str, str]
    seconds: float = 0.0

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.factor - 1

    @property
    def factor(self) -> float:
        """Predicted time over recorded time."""
        return self.predicted / self.recorded

    @property
    def family(self) -> str:
        """The ladder of the kernel."""
        return self.kernel.split("/")[0]


@dataclass(frozen=True)
class Errors:
    """What some trials say: their number, the median and the mean of the errors' sizes, and the share within 15 %."""

    trials: int
    median: float
    mean: float
    within_15: float
    same_stall: float

    def __str__(self) -> str:
        return (
            f"{self.trials} blind trials: median error {self.median:.1%}, mean {self.mean:.1%}, "
            f"{self.within_15:.0%} within 15 %"
        )


def trials(folder: Path | None = None) -> tuple[Trial, ...]:
    """All variants that were both predicted and recorded."""
    return _read(folder or data_dir("results") / "blind")


@lru_cache(maxsize=4)
def _read(folder: Path) -> tuple[Trial, ...]:
    found = []
    for campaign in sorted(path for path in folder.glob("*") if (path / "recorded.csv").is_file()):
        rows = read_rows(campaign / "predicted.csv")
        predicted = {(*_key(row), row.get("gpu", "")): row for row in rows}
        several = bool(rows) and "gpu" in rows[0]  # the first campaign was predicted for one GPU, and does not name it
        for row in read_rows(campaign / "recorded.csv"):
            ours = predicted[(*_key(row), data_sheets.gpu(row["gpu"]).key if several else "")]
            if row["cycles"] and ours["cycles"]:
                found.append(_trial(campaign.name, ours, row))
    return tuple(found)


def recorded_rungs(path: Path, cards: Iterable[dict[str, str]]) -> tuple[Trial, ...]:
    """The predictions of recorded rungs in a file, such as base.csv, beside the rows of cards.csv of the same GPU.

    Those that failed are left out; a file that does not exist has none. Raises `KeyError` for a rung without a card.
    """
    recorded = {_key(row): row for row in cards}
    return tuple(_trial(path.parent.name, row, recorded[_key(row)]) for row in read_rows(path) if row["cycles"])


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in KEY)


def _trial(campaign: str, ours: dict[str, str], row: dict[str, str]) -> Trial:
    waits = {name[6:]: float(value or 0) for name, value in row.items() if name.startswith("stall_")}
    waits = {name: value for name, value in waits.items() if name not in ("selected", "not_selected")}
    return Trial(
        campaign,
        row["kernel"],
        row["config"],
        int(row["n"]),
        row.get("idea") or row.get("edit") or "",
        row["gpu"],
        float(ours["cycles"]),
        float(row["cycles"]),
        (ours["top_stall"].replace("gmma", "barrier"), max(waits, key=waits.__getitem__, default="")),
        1e-9 * float(row.get("duration_ns") or 0),
    )


def errors(some: Iterable[Trial]) -> Errors | None:
    """The summary of some trials; None if there are none."""
    some = list(some)
    if not some:
        return None
    sizes = [abs(trial.error) for trial in some]
    return Errors(
        len(some),
        median(sizes),
        mean(sizes),
        mean(size < 0.15 for size in sizes),
        mean(trial.stall[0] == trial.stall[1] for trial in some),
    )
