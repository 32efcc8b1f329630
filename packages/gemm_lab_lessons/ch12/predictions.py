"""Predicted times beside recorded ones: every rung with a recorded card, and the variants of the blind trials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_look.card import card, remark
from gemm_look.table import Table
from gemm_results.blind_trials import Errors, Trial, errors, recorded_rungs, trials
from gemm_results.errors import LabError
from gemm_results.profile import read_rows
from gpu_simulator.argument_checks import checked
from gpu_simulator.hardware.data_sheets import gpu, with_article

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Predictions:
    """Predictions for one GPU, each with the recorded time. It is displayed as a table; `.plot()` draws a picture.

    rungs: kernels of the catalogue, whose times were known when the model was made.   blind: variants whose times were
    not.   failed: (kernel, reason) of the recorded kernels that have no prediction.
    """

    gpu: str
    rungs: tuple[Trial, ...] = field(repr=False)
    blind: tuple[Trial, ...] = field(repr=False)
    failed: tuple[tuple[str, str], ...] = ()

    @property
    def worst(self) -> list[Trial]:
        """All predictions, those with the largest error first: predicted twice as long and half as long are alike."""
        return sorted([*self.rungs, *self.blind], key=lambda one: -max(one.factor, 1 / one.factor))

    def plot(self) -> Figure:
        """Predicted over recorded cycles, with the band of ± 15 %."""
        from gemm_results.plots.predicted import against_recorded

        return against_recorded(self.rungs, self.blind, self.worst, self.gpu)

    def _table(self) -> Table:
        header = ["ladder", "cards", "median error", "within 15 %", "blind trials", "median error", "within 15 %"]
        names = [name for name in catalog.ladders() if any(one.family == name for one in [*self.rungs, *self.blind])]
        body = [[name, *self._cells(name)] for name in names] + [["all", *self._cells()]]
        caption = (
            f"Predicted for {with_article(self.gpu)}, and recorded on one. The model's constants were chosen with "
            "the rungs in view, so only the blind trials say how far a prediction of another kernel can be trusted."
        )
        return Table(header, body, caption)

    def _cells(self, ladder: str | None = None) -> list[str]:
        return [
            words
            for some in (self.rungs, self.blind)
            for words in _words(errors(one for one in some if ladder in (None, one.family)))
        ]

    def _failed(self) -> list[str]:
        return [f"{name} has no prediction: {why}" for name, why in self.failed]

    def __repr__(self) -> str:
        table = self._table()
        return "\n".join([*table.lines(), table.caption, *self._failed()])

    def _repr_html_(self) -> str:
        return card(self._table().html() + "".join(remark(text, "warn") for text in self._failed()))


def _words(found: Errors | None) -> tuple[str, str, str]:
    return (f"{found.trials}", f"{found.median:.1%}", f"{found.within_15:.0%}") if found else ("", "", "")


@checked
def predictions(on: str = "h200") -> Predictions:
    """The predictions of `results/predicted` and `results/blind` for GPU `on`. Raises `LabError` if there are none."""
    sheet, folder = gpu(on), data_dir("results")
    path = folder / "predicted" / f"{sheet.key}.csv"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.csv")))
        raise LabError(
            f"No recorded kernel was predicted for {with_article(sheet.name)}; there are predictions for {known}."
        )
    rungs = recorded_rungs(path, read_rows(folder / "profiles" / sheet.key / "cards.csv"))
    blind = tuple(one for one in trials() if gpu(one.gpu).key == sheet.key)
    failed = tuple((row["kernel"], row["failed"]) for row in read_rows(path) if row["failed"])
    return Predictions(sheet.name, rungs, blind, failed)
