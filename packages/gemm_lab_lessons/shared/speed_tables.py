"""Short tables of speeds: those of a bench beside one rival, and those that a text has published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gemm_lab.lab import Bench, Kernel
from gemm_look.table import ShownAsTable, Table
from gemm_results.published import published


@dataclass(frozen=True, repr=False)
class SpeedTable(ShownAsTable):
    """A table of recorded or published figures; a field without one is "–"."""

    table: Table

    def _table(self) -> Table:
        return self.table


def speeds(bench: Bench, names: Sequence[str], sizes: Sequence[int], over: str) -> SpeedTable:
    """TFLOPS of some kernels of a bench at these sizes, and how many times as fast as `over` each of them is.

    The quotients are medians over the rounds of the run, so they may differ a little from those of two medians.
    """
    header = ["kernel", *(f"TFLOPS at {n}" for n in sizes), *(f"÷ {over} at {n}" for n in sizes)]
    rows = [
        [name, *(f"{bench.tflops(name, n):.1f}" for n in sizes), *(f"{bench.ratio(name, over, n):.3f}" for n in sizes)]
        for name in names
    ]
    return SpeedTable(Table(header, rows, bench._caption()))


def published_percents(source: str, gpu: str, sizes: Iterable[int] = (2048, 4096, 8192)) -> SpeedTable:
    """The percentages of a GPU's peak that one source of results/published.csv gives, a row a kernel."""
    told = {(row.kernel, row.n): row for row in published() if (row.source, row.gpu) == (source, gpu)}
    rows = [
        [name, *(f"{told[name, n].percent_of_peak:.2f}" if (name, n) in told else "–" for n in sizes)]
        for name in dict.fromkeys(kernel for kernel, _ in told)
    ]
    return SpeedTable(Table(["kernel", *(f"% of peak at {n}" for n in sizes)], rows, f"published: {source}, {gpu}"))


def states(*kernels: Kernel, least: float = 0.2) -> SpeedTable:
    """Of recorded profile cards: the cycles an instruction in each state, a column a kernel, and how busy the pipe was.

    Only states with more than `least` cycles in one of them. Raises what `kernel.profile()` raises.
    """
    cards = [made.profile().card for made in kernels]
    names = [state for state in cards[0].stalls if any(card.stalls[state] > least for card in cards)]
    names.sort(key=lambda state: -cards[-1].stalls[state])
    rows = [[state.label, *(f"{card.stalls[state]:.2f}" for card in cards)] for state in names]
    rows.append(["tensor pipe busy", *(f"{card['tensor_pipe_pct']:.0f} %" for card in cards)])
    first = cards[0]
    caption = f"cycles an instruction, recorded on an {first.conditions['gpu']} at {first.n} × {first.n} × {first.n}"
    return SpeedTable(Table(["a warp's time", *(made.name for made in kernels)], rows, caption))
