"""All recorded ablations in one table: what each idea of a rung is worth where the rung stands."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab import catalog
from gemm_lab.lab.actions.ablating import path_for, recorded_gains, rung_of
from gemm_look.table import ShownAsTable, Table
from gemm_results.ablation import Gain

RUNS = (("burst", 4096), ("burst", 8192), ("sustained", 4096), ("sustained", 8192))


@dataclass(frozen=True)
class Worth:
    """How many times as fast a rung is with an idea as without it: {(regime, n): Gain}, for the runs that exist."""

    rung: str
    idea: str
    gains: dict[tuple[str, int], Gain]

    @property
    def most(self) -> float:
        """The largest of the ratios."""
        return max(gain.ratio for gain in self.gains.values())

    @property
    def nothing(self) -> bool:
        """True if no run tells the idea from no idea: every ratio is within 1 % of 1."""
        return all(abs(gain.ratio - 1) < 0.01 for gain in self.gains.values())


@dataclass(frozen=True, repr=False)
class Ablations(ShownAsTable):
    """The ideas of all ladders, the most valuable first. It is displayed as a table."""

    rows: tuple[Worth, ...]
    gpu: str

    def _table(self) -> Table:
        header = ["rung", "idea", *(f"{regime} {n}" for regime, n in RUNS)]
        body = [
            [row.rung, row.idea, *(f"{row.gains[run].ratio:.3f}" if run in row.gains else "" for run in RUNS)]
            for row in self.rows
        ]
        caption = (
            f"Times as fast as without the idea, medians of rounds in turns, on {path_for(self.gpu).stem.upper()}."
        )
        return Table(header, body, caption, text_columns=2)


def ablations(gpu: str = "h200") -> Ablations:
    """Every idea of `[[ablation]]` in the ladders up to here, recorded on a GPU, sorted by its largest ratio."""
    found = []
    for ladder in (each for each in catalog.ladders().values() if not each.eight_bits):
        for name in dict.fromkeys(idea.rung for idea in ladder.ideas):
            rung, ideas = rung_of(ladder, name)
            runs = {(regime, n): recorded_gains(rung, ideas, n, regime, gpu) for regime, n in RUNS}
            found += [
                Worth(
                    rung.name, idea.idea, {run: gains[idea.idea] for run, gains in runs.items() if idea.idea in gains}
                )
                for idea in ideas
            ]
    return Ablations(tuple(sorted((row for row in found if row.gains), key=lambda row: -row.most)), gpu)
