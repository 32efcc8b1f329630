"""`k.predict()`: the predicted time of a kernel, what it waits for, and how far such predictions were off."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from gemm_look import style
from gemm_look.card import card, facts, remark
from gemm_look.table import Table
from gemm_results.blind_trials import Errors
from gemm_results.cards.profile_bars import Section, bars
from gemm_results.published_trials import Summary
from gemm_results.recorded_cards import ProfileCard
from gemm_results.stalls import STALLS
from gpu_simulator.hardware.data_sheets import with_article
from gpu_timing.cycles.whole_kernel import Prediction

SHOWN_LINES = 5
SIGN = "○"  # hollow, as the points of predictions are in plots
LABELS = {stall.key: stall.label for stall in STALLS}
COLUMNS = {  # unit of the time model → column of a recorded card
    "issue": "issue_slots_pct",
    "tensor": "tensor_pipe_pct",
    "alu": "alu_pipe_pct",
    "fma": "fma_pipe_pct",
}
UNITS = {
    "tensor": "the tensor cores",
    "fma": "the FP32 units",
    "heavy": "the integer multipliers",
    "alu": "the integer units",
    "xu": "the units for conversions and reciprocals",
    "uniform": "the uniform datapath",
    "branch": "the branch units",
    "shared_memory": "shared memory",
    "l1_tags": "the lookup of lines in L1",
    "l2_port": "the way from L2",
    "issue": "the issue of instructions",
}


def trust(gpu: str, error: Errors | None, tested_on: str, ratios: Summary | None, speeds: Summary | None) -> str:
    """How far predictions for a GPU were off, in a sentence; the arguments are those of `Predicted`."""
    known = []
    if error is not None:
        known.append(f"tested on {with_article(tested_on)}, {error} of this ladder")
    if ratios is not None:
        known.append(f"on {with_article(gpu)} against published ratios of steps, errors of {ratios}")
    if speeds is not None:
        known.append(f"against published TFLOPS, {speeds}")
    if not known:
        return "No kernel of this ladder was in a blind trial, so nobody knows how far this prediction is off."
    unknown = "" if error is not None else " No kernel of this ladder was in a blind trial."
    if tested_on != gpu and ratios is None:
        unknown += f" Nothing is known of predictions for {with_article(gpu)}."
    return f"How far to trust it: {'; '.join(known)}.{unknown}"


@dataclass(frozen=True)
class Predicted:
    """A predicted m × n × k run. It is displayed as a card; `prediction` has the numbers.

    gpu: the GPU's name.   error: of blind trials of this family of kernels, or None; tested_on: name of their GPU.
    ratios, speeds: errors against published ladders of this GPU.   lines: (line, its text, share of the warps' time,
    main reason) of the lines that take most.
    """

    kernel: str
    gpu: str
    m: int
    n: int
    k: int
    prediction: Prediction = field(repr=False)
    error: Errors | None = None
    tested_on: str = ""
    ratios: Summary | None = None
    speeds: Summary | None = None
    lines: Sequence[tuple[int, str, float, str]] = field(default=(), repr=False)

    @property
    def cycles(self) -> float:
        """Predicted cycles of the launch."""
        return self.prediction.cycles

    @property
    def tflops(self) -> float:
        """Predicted TFLOPS at the assumed clock."""
        return 2 * self.m * self.n * self.k / self.prediction.seconds / 1e12

    @property
    def card(self) -> ProfileCard:
        """The prediction in the form of a recorded card, with those of its columns that the time model predicts."""
        found, conditions = self.prediction, {"gpu": self.gpu, "arch": self.prediction.arch, "predicted": self.line}
        shares = {COLUMNS[name]: 100 * min(value, 1) for name, value in found.busy.items() if name in COLUMNS}
        waits = {f"stall_{name}": value for name, value in found.reasons.items()}
        run = {"cycles": found.cycles, "duration_ns": found.seconds * 1e9, "waves": found.waves}
        return ProfileCard(self.kernel, self.n, {}, conditions, {**run, **shares, **waits})

    @property
    def headline(self) -> str:
        """The prediction in a sentence."""
        return (
            f"predicted for {with_article(self.gpu)}: {self.cycles:,.0f} cycles, {self._speed} "
            f"at {self.prediction.clock_mhz:,.0f} MHz; not measured"
        )

    @property
    def spread(self) -> float | None:
        """Mean error of the trials on this GPU, or of published speeds of it, as a share; None without either."""
        known = self.error if self.tested_on == self.gpu else self.speeds
        return known.mean if known else None

    @property
    def line(self) -> str:
        """The prediction in one line, for the card of a run."""
        size = f"{self.n}³" if self.m == self.n == self.k else f"{self.m} × {self.n} × {self.k}"
        known = (
            [f"tested on {with_article(self.tested_on)}: median error {self.error.median:.0%}"] if self.error else []
        )
        if self.speeds:
            known.append(f"against published speeds of this GPU: {self.speeds.median:.0%}")
        tested = "; ".join(known) or "nothing like it was tested"
        return f"{SIGN} predicted for {with_article(self.gpu)}: {self._speed} at {size} ({tested}); not measured"

    @property
    def _speed(self) -> str:
        return f"{self.tflops:,.1f} TFLOPS" + (f" ± {self.spread:.0%}" if self.spread is not None else "")

    @property
    def trust(self) -> str:
        """How far predictions of this kind were off."""
        return trust(self.gpu, self.error, self.tested_on, self.ratios, self.speeds)

    @property
    def limit(self) -> str:
        """The unit that is busiest."""
        unit, share = self.prediction.binding
        return f"{UNITS.get(unit, unit)}, busy for {min(share, 1):.0%} of the main loop"

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("busiest unit", self.limit),
            ("blocks on an SM", f"{self.prediction.blocks_per_sm}"),
            ("waves", f"{self.prediction.waves:.2f}"),
        ]

    def _table(self) -> Table:
        rows = [(f"{line}", text.strip()[:80], why, f"{share:.0%}") for line, text, share, why in self.lines]
        return Table(("line", "source", "waits mostly for", "share of the time"), rows, text_columns=3, code=1)

    def __repr__(self) -> str:
        lines = [self.kernel, *textwrap.wrap(self.headline, 110), ""]
        lines += [f"  {LABELS.get(name, name):20} {value:5.2f}" for name, value in self.prediction.reasons.items()]
        lines += ["", *(f"{label}: {words}" for label, words in self._facts()), *self._table().lines()]
        return "\n".join([*lines, "", *textwrap.wrap(self.trust, 110)])

    def _repr_html_(self) -> str:
        reasons = {LABELS.get(name, name.replace("_", " ")): value for name, value in self.prediction.reasons.items()}
        section = Section(
            "predicted: where a warp's time goes, in cycles for each instruction",
            [(self.kernel, reasons)],
            {name: f"{value:.2f}" for name, value in reasons.items()},
        )
        head = f"<b>{escape(self.kernel)}</b><div>{escape(self.headline)}</div>"
        body = facts(self._facts()) + bars(section, 0.02) + (self._table().html() if self.lines else "")
        unknown = self.prediction.unknown
        note = f"Instructions that the model does not follow: {', '.join(sorted(unknown))}." if unknown else ""
        return card(head + body + (remark(note, "warn") if note else "") + remark(self.trust, "small"), style.SKY)
