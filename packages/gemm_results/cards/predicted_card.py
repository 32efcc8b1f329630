"""`k.predict()`: the predicted time of a kernel, what it waits for, and how far such predictions were off."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from math import floor, log10

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


def two_digits(value: float) -> str:
    """A number with two digits that count, as its error allows: 430, 32, 7.4, 0.50."""
    places = max(1 - floor(log10(abs(value))), 0) if value else 0
    return f"{float(f'{value:.2g}'):,.{places}f}"


def trust(gpu: str, error: Errors | None, tested_on: str, ratios: Summary | None) -> str:
    """How far the predicted cycles of a GPU were off, in a sentence.

    error: of blind trials of this family of kernels; tested_on: the name of their GPU.   ratios: see `Predicted`.
    """
    known = []
    if error is not None:
        known.append(f"tested on {with_article(tested_on)}, {error} of this ladder")
    if ratios is not None:
        known.append(f"on {with_article(gpu)} against published ratios of steps, {ratios}")
    if not known:
        return "No kernel of this ladder was in a blind trial, so nobody knows how far this prediction is off."
    unknown = "" if error is not None else " No kernel of this ladder was in a blind trial."
    if tested_on != gpu and ratios is None:
        unknown += f" Nothing is known of predictions for {with_article(gpu)}."
    return f"How far to trust it: {'; '.join(known)}.{unknown}"


@dataclass(frozen=True)
class Predicted:
    """A predicted m × n × k run. It is displayed as a card; `prediction` has the numbers.

    gpu: the GPU's name.   spread: errors of predicted speeds that were recorded on this GPU, of kernels of this ladder;
    None without any, and then no speed is shown, but the ratio to `base`, (name, cycles) of the kernel before.
    ratios: errors of such ratios against published ladders of this GPU.   recorded: (TFLOPS, date) of the same kernel
    in a burst.   gap: what decides this run and is not modelled; "" if nothing is known to be missing.   lines: (line,
    its text, share of the warps' time, main reason) of the lines that take most.
    """

    kernel: str
    gpu: str
    m: int
    n: int
    k: int
    prediction: Prediction = field(repr=False)
    spread: Summary | None = None
    base: tuple[str, float] | None = None
    ratios: Summary | None = None
    recorded: tuple[float, str] | None = None
    gap: str = ""
    lines: Sequence[tuple[int, str, float, str]] = field(default=(), repr=False)

    @property
    def cycles(self) -> float:
        """Predicted cycles of the launch."""
        return self.prediction.cycles

    @property
    def tflops(self) -> float | None:
        """Predicted TFLOPS in a burst; None where the model is known not to see what decides, or was never tested."""
        return None if self.gap or not self.spread else 2 * self.m * self.n * self.k / self.prediction.seconds / 1e12

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the kernel before; None without one, and where `gap` says so."""
        return None if self.gap or not self.base else self.base[1] / self.cycles

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
        """The prediction in a sentence, and what was recorded."""
        said = f"predicted for {with_article(self.gpu)}: {self._speed}; not measured"
        if self.recorded is None:
            return said
        speed, date = self.recorded
        return f"recorded on {with_article(self.gpu)} in a burst: {speed:,.3g} TFLOPS ({date}). {said}"

    @property
    def line(self) -> str:
        """The prediction in one line, for the card of a run."""
        size = f"{self.n}³" if self.m == self.n == self.k else f"{self.m} × {self.n} × {self.k}"
        return f"{SIGN} predicted for {with_article(self.gpu)} at {size}: {self._speed}; not measured"

    @property
    def _speed(self) -> str:
        if self.gap:
            return f"not modelled, because {self.gap}"
        if self.tflops and self.spread:
            at = f"in a burst at {self.prediction.clock_mhz:,.0f} MHz"
            return f"{two_digits(self.tflops)} TFLOPS {at} ({self.spread} known speeds)"
        known = f" ({self.ratios} published steps)" if self.ratios else ""
        if self.ratio and self.base:
            return f"{two_digits(self.ratio)} times as fast as {self.base[0]}{known}"
        return f"no speed, because none was recorded on {with_article(self.gpu)} to test the model"

    @property
    def trust(self) -> str:
        """How far predictions of this kind were off, and of what they say nothing."""
        if self.spread is None:
            against = f" Against published ratios of steps: {self.ratios}." if self.ratios else ""
            return (
                f"No kernel of this ladder was recorded on {with_article(self.gpu)}, so there are no predicted TFLOPS, "
                f"but a ratio to the kernel before.{against}"
            )
        return (
            f"How far to trust it: of {self.spread.count} speeds of this ladder on this GPU, recorded in bursts or in "
            f"blind trials, half were predicted within {self.spread.median:.0%}, and the worst was off by "
            f"{self.spread.furthest}. A burst is some milliseconds after a pause, at a high clock; sustained speeds "
            "are limited by power, and are not predicted."
        )

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
        if not self.gap:
            lines += [f"  {LABELS.get(name, name):20} {value:5.2f}" for name, value in self.prediction.reasons.items()]
            lines += ["", *(f"{label}: {words}" for label, words in self._facts()), *self._table().lines(), ""]
        for note in (*self._notes(), self.trust):
            lines += textwrap.wrap(note, 110)
        return "\n".join(lines)

    def _notes(self) -> list[str]:
        """What the model took for granted, and what it does not follow."""
        unknown = ", ".join(sorted(self.prediction.unknown))
        notes = sorted(self.prediction.assumed)
        if unknown:
            notes.append(f"Instructions that the model does not follow: {unknown}.")
        if any(one.op in ("LDL", "STL") for one in self.prediction.code):
            notes.append("This kernel keeps data in local memory; the worst predictions were of such kernels.")
        return notes

    def _repr_html_(self) -> str:
        reasons = {LABELS.get(name, name.replace("_", " ")): value for name, value in self.prediction.reasons.items()}
        section = Section(
            "predicted: where a warp's time goes, in cycles for each instruction",
            [(self.kernel, reasons)],
            {name: f"{value:.2f}" for name, value in reasons.items()},
        )
        body = f"<b>{escape(self.kernel)}</b><div>{escape(self.headline)}</div>"
        if not self.gap:
            body += facts(self._facts()) + bars(section, 0.02) + (self._table().html() if self.lines else "")
        notes = "".join(remark(note, "warn") for note in self._notes())
        return card(body + notes + remark(self.trust, "small"), style.SKY)
