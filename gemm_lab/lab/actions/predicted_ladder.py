"""Implements `Ladder.predict`: the rungs of a ladder on a GPU that is not here."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from gemm_lab.catalog import LadderSpec
from gemm_lab.lab.actions.predicting import attempted, gpu_with_constants
from gemm_lab.lab.kernel import Kernel
from gemm_look.table import ShownAsTable, Table
from gemm_results.cards.predicted_card import LABELS, Predicted, two_digits
from gpu_simulator.hardware.data_sheets import Gpu, with_article


@dataclass(frozen=True, repr=False)
class PredictedLadder(ShownAsTable):
    """Predicted runs of the rungs of a ladder on GPU `on`. It is displayed as a table.

    rows: (kernel, size, the prediction or the reason why there is none), in teaching order.
    """

    spec: LadderSpec = field(repr=False)
    on: Gpu = field(repr=False)
    rows: tuple[tuple[str, int, Predicted | str], ...] = field(repr=False)

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


def predict(spec: LadderSpec, on: str, sizes: Iterable[int], progress: bool) -> PredictedLadder:
    """Implements `Ladder.predict`."""
    from tqdm.auto import tqdm

    sheet = gpu_with_constants(on)
    kernels = [Kernel(rung, rung.configure(sheet.key), tuned_for=sheet.key) for rung in spec.kernels]
    asked = [(kernel, n) for kernel in kernels for n in sizes]
    shown = tqdm(asked, "predicting", file=sys.stderr, leave=False, disable=None if progress else True)
    rows = tuple((kernel.name, n, attempted(kernel, sheet.key, n)) for kernel, n in shown)
    return PredictedLadder(spec, sheet, rows)
