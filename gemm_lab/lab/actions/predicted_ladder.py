"""Implements `Ladder.predict`: the rungs of a ladder on a GPU that is not here, beside what was recorded on it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gemm_lab.catalog import LadderSpec
from gemm_lab.config import data_dir
from gemm_lab.lab.actions.predicting import attempted, gpu_with_constants
from gemm_lab.lab.kernel import Kernel
from gemm_lab.lab.tuning import current
from gemm_look.card import card
from gemm_look.table import Table
from gemm_results import published_trials, results
from gemm_results.cards.predicted_card import LABELS, Predicted, two_digits
from gemm_results.errors import LabError
from gemm_results.recorded_cards import read_cards
from gpu_simulator.argument_checks import checked
from gpu_simulator.hardware.data_sheets import Gpu, with_article

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PredictedLadder:
    """Predicted runs of the rungs of a ladder on GPU `on`. It is displayed as a table; `.plot()` draws a picture.

    rows: (kernel, size, the prediction or the reason why there is none), in teaching order.
    """

    spec: LadderSpec = field(repr=False)
    on: Gpu = field(repr=False)
    rows: tuple[tuple[str, int, Predicted | str], ...] = field(repr=False)

    @property
    def sizes(self) -> list[int]:
        return sorted({n for _, n, _ in self.rows})

    @checked
    def plot(self, n: int | None = None) -> Figure:
        """Plot the predicted rungs at size n (default: the largest) beside recorded and published speeds of this GPU.

        Raises `LabError` if no rung was predicted at n.
        """
        from gemm_results.plots.predicted import predicted_ladder

        n = n or self.sizes[-1]
        found = {name: one for name, size, one in self.rows if size == n and isinstance(one, Predicted) and not one.gap}
        if not found:
            raise LabError(f"No rung of {self.spec.name} was predicted at {n}; the sizes are {self.sizes}.")
        names = [name for name, size, _ in self.rows if size == n]
        return predicted_ladder(names, found, recorded_speeds(self.spec, self.on, n), n)

    def _table(self) -> Table:
        speeds = any(isinstance(found, Predicted) and found.spread for *_, found in self.rows)
        number = "TFLOPS in a burst" if speeds else "ratio to the rung before"
        header = ("kernel", "waits mostly for", "N", f"predicted {number}")
        return Table(header, [self._cells(*row) for row in self.rows], self._caption(), text_columns=2)

    @staticmethod
    def _cells(name: str, n: int, found: Predicted | str) -> tuple[str, ...]:
        if isinstance(found, str) or found.gap:
            return name, found if isinstance(found, str) else f"not modelled: {found.gap}", f"{n}", ""
        why, value = found.prediction.top_reason, found.tflops or found.ratio
        return name, LABELS.get(why, why), f"{n}", two_digits(value) if value else ""

    def _caption(self) -> str:
        trust = next((found.trust for *_, found in self.rows if isinstance(found, Predicted)), "")
        return f"Predicted for {with_article(self.on.name)}, not measured. {trust}".strip()

    def __repr__(self) -> str:
        return "\n".join([*self._table().lines(), self._caption()])

    def _repr_html_(self) -> str:
        return card(self._table().html())


def predict(spec: LadderSpec, on: str, sizes: Iterable[int], progress: bool) -> PredictedLadder:
    """Implements `Ladder.predict`."""
    from tqdm.auto import tqdm

    sheet = gpu_with_constants(on)
    kernels = [Kernel(rung, rung.configure(sheet.key), tuned_for=sheet.key) for rung in spec.kernels]
    asked = [(kernel, n) for kernel in kernels for n in sizes]
    shown = tqdm(asked, "predicting", file=sys.stderr, leave=False, disable=None if progress else True)
    rows = tuple((kernel.name, n, attempted(kernel, sheet.key, n)) for kernel, n in shown)
    return PredictedLadder(spec, sheet, rows)


def recorded_speeds(spec: LadderSpec, on: Gpu, n: int) -> dict[str, list[tuple[str, float]]]:
    """{kind: (kernel, TFLOPS) pairs} of what is known of a ladder's rungs on this GPU at n × n × n.

    The kinds are "measured" (`results/measured`, in a burst as predictions are), "profiled" (`results/profiles`: one
    launch under Nsight Compute) and "published": steps of other texts for which a rung stands
    (`gemm_results.published_trials`).
    """
    names = {rung.name: rung.configure(on.key) for rung in spec.kernels}
    found = [row for row in results.recorded(on.key) if row.n == n and row.regime == "burst"]
    rows, _ = current(found, on.key)
    cards = read_cards(data_dir("results") / "profiles" / on.key)
    return {
        "measured": [(row.kernel, row.tflops) for row in rows if row.kernel in names],
        "profiled": [
            (one.kernel, 2e-3 * n**3 / duration)
            for one in cards
            if names.get(one.kernel) == one.config and one.n == n and (duration := one["duration_ns"])
        ],
        "published": [
            (one.kernel, one.published)
            for one in published_trials.steps()
            if one.kernel in names and one.gpu == on.key and one.n == n
        ],
    }
