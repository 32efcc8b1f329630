"""The ladder so far as bars, which grows by one bar a rung and is lit where the learner has earned it.

from gemm_lab_lessons.shared.climb import climb
climb(bench, "t4/03")       the rungs up to 03 and, hollow, the kernels that they are compared with
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from gemm_lab.lab import Bench
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.remembered.solved import solved_so_far
from gemm_look import style, theme
from gemm_look.card import card, remark
from gemm_results.plots.rows import baseline_label, in_tflops, is_rung, short

WIDE = 32  # em, or letters in the text, of the longest bar
LIT, OPEN, BESIDE = "lit", "open", "beside"
LOOKS = {
    LIT: {"background": style.GREEN},
    OPEN: {"box_sizing": "border-box", "border": f"1px solid {style.GREEN}"},
    BESIDE: {"box_sizing": "border-box", "border": f"1px solid {theme.MARK}"},
}


@dataclass(frozen=True)
class Bar:
    """A kernel and its TFLOPS. kind: "lit" and "open" are rungs; "beside" is what they are compared with."""

    name: str
    tflops: float
    kind: str


@dataclass(frozen=True)
class Climb:
    """Bars on a linear axis from 0; `missing` has the exercises with which the open ones are earned."""

    bars: list[Bar]
    missing: list[str]
    conditions: str

    @property
    def _words(self) -> str:
        to_do = f" Open bars are lit when you have solved {', '.join(self.missing)}." if self.missing else ""
        return f"TFLOPS; {self.conditions}.{to_do}"

    def _lines(self, drawn) -> str:
        name, most = max(len(bar.name) for bar in self.bars), max(bar.tflops for bar in self.bars)
        return "\n".join(
            f"{escape(bar.name):{name}} {drawn(bar, WIDE * bar.tflops / most)} {in_tflops(bar.tflops)}"
            for bar in self.bars
        )

    def __repr__(self) -> str:
        letters = {LIT: "█", OPEN: "░", BESIDE: "·"}
        return f"{self._lines(lambda bar, width: letters[bar.kind] * round(width))}\n{self._words}"

    def _repr_html_(self) -> str:
        def box(bar: Bar, width: float) -> str:
            letters = "▬" * round(width / 2)  # seen where a viewer drops the styles
            return theme.tag("span", "step", letters, width=f"{width:.1f}em", **LOOKS[bar.kind])

        return card(theme.tag("pre", "wide pre", self._lines(box)) + remark(self._words, "small"))


def climb(bench: Bench, rung: str, n: int = 8192, *, cublas: bool = False) -> Climb:
    """The rungs of a bench up to `rung` at size n, CUTLASS and the ceiling; with `cublas` every other baseline too.

    A rung is earned when all exercises are solved whose key `earns` names it. Raises `LabError` for a rung or a size
    that the bench does not have.
    """
    shown = bench.up_to(rung)
    shown.tflops(rung, n)
    rows = [row for row in shown.rows if row.n == n]
    earned: dict[str, list[str]] = {}
    for one in exercises().values():
        earned.setdefault(one.criteria.get("earns", ""), []).append(one.name)
    bars, missing, done = [], [], solved_so_far()
    for row in sorted(filter(is_rung, rows), key=lambda row: row.kernel):
        to_do = [name for name in earned.get(row.kernel, ()) if name not in done]
        bars.append(Bar(short(row.kernel), row.tflops, OPEN if to_do else LIT))
        missing += to_do
    for row in rows:
        label = baseline_label(row)
        if not is_rung(row) and (cublas or not label or "CUTLASS" in label):
            bars.append(Bar(label or "ceiling of its mma", row.tflops, BESIDE))
    source = "recorded" if bench.recorded else "measured now"
    return Climb(bars, missing, f"{n} × {n} × {n}, {rows[0].regime}, {source} on an {rows[0].gpu}")
