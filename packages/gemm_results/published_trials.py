"""How far predictions were from ladders that others have printed, on GPUs that are not here: `results/blind/published`.

`steps.csv` says which kernel here stands for which published step, `predicted.csv` what the model says of it, written
before any comparison. The figures are those of `results/published.csv` and of `published.csv` beside the predictions.
A ratio of two neighbouring steps needs no clock, and less of the kernels' likeness than a speed does. The errors are
computed here, and nowhere written down. Unlike a blind trial's, these figures had been public before the prediction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Protocol

from gemm_results.data_folders import data_dir
from gemm_results.profile import read_rows
from gemm_results.published import published


@dataclass(frozen=True)
class Step:
    """A published step and the kernel that stands for it. predicted, published: TFLOPS."""

    source: str
    gpu: str
    n: int
    step: str
    kernel: str
    predicted: float
    published: float

    @property
    def error(self) -> float:
        """Relative error of the predicted speed, and so of its share of a cuBLAS that the text states."""
        return self.predicted / self.published - 1

    @property
    def ladder(self) -> tuple[str, str, int]:
        """What steps have in common that may be compared: text, GPU and size."""
        return self.source, self.gpu, self.n


@dataclass(frozen=True)
class Ratio:
    """How much faster a step is than the one before it."""

    before: Step
    after: Step

    @property
    def predicted(self) -> float:
        """The predicted ratio of the speeds."""
        return self.after.predicted / self.before.predicted

    @property
    def published(self) -> float:
        """The published ratio of the speeds."""
        return self.after.published / self.before.published

    @property
    def error(self) -> float:
        """Relative error of the ratio."""
        return self.predicted / self.published - 1

    @property
    def gpu(self) -> str:
        """Key of the GPU."""
        return self.after.gpu


@dataclass(frozen=True)
class Summary:
    """What some errors say: their number, and the median and the largest of their sizes."""

    count: int
    median: float
    worst: float

    def __str__(self) -> str:
        return f"median error {self.median:.0%}, worst {self.furthest} of {self.count}"

    @property
    def furthest(self) -> str:
        """The largest error in words: 38%, or how many times the known value."""
        return f"{self.worst:.0%}" if self.worst < 1 else f"{1 + self.worst:.2g} times"


class HasError(Protocol):
    """What was predicted and is known."""

    @property
    def error(self) -> float: ...


def summary(some: Iterable[HasError]) -> Summary | None:
    """The summary of some errors; None if there are none."""
    sizes = [abs(one.error) for one in some]
    return Summary(len(sizes), median(sizes), max(sizes)) if sizes else None


def steps(folder: Path | None = None) -> tuple[Step, ...]:
    """All steps with a prediction and a published figure, in the order of the predictions.

    folder: of the figures and the frozen predictions.
    """
    return _steps(folder or data_dir("results") / "blind" / "published")


def ratios(some: Iterable[Step]) -> list[Ratio]:
    """The ratios of neighbouring steps of the same text, GPU and size."""
    ladders: dict[tuple[str, str, int], list[Step]] = {}
    for one in some:
        ladders.setdefault(one.ladder, []).append(one)
    return [Ratio(before, after) for ladder in ladders.values() for before, after in pairwise(ladder)]


@lru_cache(maxsize=4)
def _steps(folder: Path) -> tuple[Step, ...]:
    figures = _figures(folder)
    found = []
    for row in read_rows(folder / "predicted.csv"):
        key = (row["source"], row["gpu"], row["step"])
        speed = figures.get((*key, int(row["n"])), figures.get((*key, None)))
        if speed is not None:
            found.append(Step(key[0], key[1], int(row["n"]), key[2], row["kernel"], float(row["tflops"]), speed))
    return tuple(found)


def _figures(folder: Path) -> dict[tuple[str, str, str, int | None], float]:
    """TFLOPS by text, GPU, step and size (None if the text gives no size). Of two figures, the first counts."""
    found: dict[tuple[str, str, str, int | None], float] = {}
    shares = []
    for row in published():
        if row.speed is not None:
            found.setdefault((row.source, row.gpu, row.kernel, row.n), row.speed)
        elif row.percent_of_cublas is not None:
            shares.append(row)
    for row in shares:
        library = found.get((row.source, row.gpu, "cublas", row.n), found.get((row.source, row.gpu, "cublas", None)))
        if library is not None:
            found[row.source, row.gpu, row.kernel, row.n] = row.percent_of_cublas / 100 * library
    for line in read_rows(folder / "published.csv"):
        found[line["source"], line["gpu"], line["step"], int(line["n"])] = float(line["tflops"])
    return found
