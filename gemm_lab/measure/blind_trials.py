"""How far predicted cycles were from measured ones in blind trials: the files in `results/blind`.

Each folder is a campaign: `variants.csv` was drawn with a seed, `predicted.csv` committed before anything was measured,
`recorded.csv` measured with Nsight Compute. The errors are computed here, and nowhere written down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import mean, median

from gemm_lab.config import data_dir
from gemm_lab.measure.profile import read_rows

KEY = ("kernel", "config", "n", "idea", "edit")


@dataclass(frozen=True)
class Trial:
    """One variant. error: predicted cycles over recorded ones, less 1.   stall: predicted and recorded top reason."""

    campaign: str
    kernel: str
    config: str
    n: int
    change: str
    gpu: str
    predicted: float
    recorded: float
    stall: tuple[str, str]

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.predicted / self.recorded - 1

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
        predicted = {tuple(row[name] for name in KEY): row for row in read_rows(campaign / "predicted.csv")}
        for row in read_rows(campaign / "recorded.csv"):
            ours = predicted[tuple(row[name] for name in KEY)]
            if not row["cycles"] or not ours["cycles"]:
                continue
            waits = {name[6:]: float(value or 0) for name, value in row.items() if name.startswith("stall_")}
            waits = {name: value for name, value in waits.items() if name not in ("selected", "not_selected")}
            found.append(
                Trial(
                    campaign.name,
                    row["kernel"],
                    row["config"],
                    int(row["n"]),
                    row["idea"] or row["edit"],
                    row["gpu"],
                    float(ours["cycles"]),
                    float(row["cycles"]),
                    (ours["top_stall"].replace("gmma", "barrier"), max(waits, key=waits.__getitem__)),
                )
            )
    return tuple(found)


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
