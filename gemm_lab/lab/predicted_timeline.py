"""The result of `k.predicted_timeline()`: some hundred predicted cycles of an SM, and how the lessons show them."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gemm_lab.courses import added
from gemm_results.cards.predicted_card import LABELS, UNITS, with_article
from gemm_results.errors import LabError
from gpu_timing.cycles.recording import SHARED_UNITS, Recording

LEAST, MOST = 20, 4000  # cycles that are shown together
VIEW = "predicted_timeline"  # the widget of a course that shows the result


def require_length(cycles: int) -> None:
    """Raise `LabError` for fewer or more cycles than can be shown together."""
    if not LEAST <= cycles <= MOST:
        raise LabError(f"From {LEAST} to {MOST:,} cycles can be shown, not {cycles:,}.")


@dataclass(frozen=True)
class PredictedTimeline:
    """What each warp and unit of an SM does in predicted cycles. It is no measurement.

    gpu: the GPU's name.   run: the recording of the whole predicted run.   start, end: the part that is shown, in
    cycles since the first block of the SM began.   sources: the text of each line of the source, by (file, number).
    trust: how far predictions of this kind were off, in a sentence.
    """

    kernel: str
    gpu: str
    m: int
    n: int
    k: int
    run: Recording = field(repr=False)
    start: int
    end: int
    sources: Mapping[tuple[str, int], str] = field(default_factory=dict, repr=False)
    trust: str = ""

    def __post_init__(self) -> None:
        require_length(self.end - self.start)
        if not 0 <= self.start < self.run.end:
            raise LabError(f"The predicted run has cycles 0 to {self.run.end:,.0f}; it cannot start at {self.start:,}.")

    def between(self, start: int, end: int) -> PredictedTimeline:
        """Other cycles of the same run. Raises `LabError` if they are too few, too many, or not in the run."""
        return replace(self, start=start, end=end)

    @property
    def shown(self) -> Recording:
        """The part of the run that is shown."""
        return self.run.between(self.start, self.end)

    @property
    def waits(self) -> dict[str, float]:
        """Share of the warps' time in the shown cycles, by what they wait for, the largest first."""
        waits = self.shown.waits()
        total = sum(waits.values()) or 1.0
        return {LABELS.get(reason, reason): cycles / total for reason, cycles in waits.items()}

    @property
    def busy(self) -> dict[str, float]:
        """Share of the shown cycles in which each unit of the run is busy; the mean of the four sub-partitions."""
        shown = self.shown
        units = {one.unit for one in self.run.busy}
        return {
            UNITS.get(unit, unit): shown.share(unit)
            if unit in SHARED_UNITS
            else sum(shown.share(unit, part) for part in range(4)) / 4
            for unit in sorted(units, key=list(UNITS).index)
        }

    @property
    def headline(self) -> str:
        """What is shown, in a sentence."""
        return (
            f"predicted for {with_article(self.gpu)}: cycles {self.start:,} to {self.end:,} of an SM in a product of "
            f"{self.m} × {self.n} × {self.k}; not measured"
        )

    def __repr__(self) -> str:
        def shares(of: dict[str, float]) -> list[str]:
            return [f"  {name:42} {share:4.0%}" for name, share in of.items() if share >= 0.005]

        lines = [self.kernel, *textwrap.wrap(self.headline, 110), "", "A warp's time:", *shares(self.waits)]
        return "\n".join([*lines, "", "Busy units:", *shares(self.busy), "", *textwrap.wrap(self.trust, 110)])

    @property
    def view(self) -> Any:
        """The live picture, which an installed course draws; None without one."""
        home = added("WIDGETS").get(VIEW)
        return getattr(importlib.import_module(home), VIEW)(self) if home else None

    def _ipython_display_(self) -> None:
        view = self.view
        if view is None:
            print(repr(self))
        else:
            view._ipython_display_()
