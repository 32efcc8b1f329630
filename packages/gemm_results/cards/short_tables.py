"""Short tables of what was recorded or published: speeds beside rivals, states of warps, two counts of conflicts.

Kernels are named in full, as in results/.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gemm_look.table import ShownAsTable, Table
from gemm_results.data_folders import data_dir
from gemm_results.profile import read_rows
from gemm_results.published import published

CONFLICTS = "profiles/h100/conflicts.csv"
DETAILS = ("conflicts", "conflicts_of_loads", "conflicts_of_stores", "hardware_wavefronts")


@dataclass(frozen=True, repr=False)
class ShortTable(ShownAsTable):
    """A table of recorded or published figures; a field without one is "–"."""

    table: Table

    def _table(self) -> Table:
        return self.table


def speeds(bench: Any, names: Sequence[str], sizes: Sequence[int], over: str) -> ShortTable:
    """TFLOPS of some kernels of a `Bench` at these sizes, and how many times as fast as `over` each of them is.

    The quotients are medians over the rounds of the run, so they may differ a little from those of two medians.
    """
    header = ["kernel", *(f"TFLOPS at {n}" for n in sizes), *(f"÷ {over} at {n}" for n in sizes)]
    rows = [
        [name, *(f"{bench.tflops(name, n):.1f}" for n in sizes), *(f"{bench.ratio(name, over, n):.3f}" for n in sizes)]
        for name in names
    ]
    return ShortTable(Table(header, rows, bench._caption()))


def shares(bench: Any, names: Sequence[str], over: Sequence[str], sizes: Sequence[int]) -> ShortTable:
    """Of some kernels of a `Bench`: the share that each reaches of the speed of each of `over`, at these sizes."""
    header = ["kernel", *(f"÷ {base} at {n}" for base in over for n in sizes)]
    rows = [[name, *(f"{bench.ratio(name, base, n):.1%}" for base in over for n in sizes)] for name in names]
    return ShortTable(Table(header, rows, bench._caption().replace("TFLOPS", "Quotients of speeds", 1)))


def published_percents(source: str, gpu: str, sizes: Iterable[int] = (2048, 4096, 8192)) -> ShortTable:
    """The percentages of a GPU's peak that one source of results/published.csv gives, a row a kernel."""
    told = {(row.kernel, row.n): row for row in published() if (row.source, row.gpu) == (source, gpu)}
    rows = [
        [name, *(f"{told[name, n].percent_of_peak:.2f}" if (name, n) in told else "–" for n in sizes)]
        for name in dict.fromkeys(kernel for kernel, _ in told)
    ]
    return ShortTable(Table(["kernel", *(f"% of peak at {n}" for n in sizes)], rows, f"published: {source}, {gpu}"))


def states(*kernels: Any, least: float = 0.2) -> ShortTable:
    """Of recorded profile cards: cycles an instruction in each state, a column a `Kernel`, and how busy the pipe was.

    Only states with more than `least` cycles in one of them. Raises what `kernel.profile()` raises.
    """
    cards = [made.profile().card for made in kernels]
    names = [state for state in cards[0].stalls if any(card.stalls[state] > least for card in cards)]
    names.sort(key=lambda state: -cards[-1].stalls[state])
    rows = [[state.label, *(f"{card.stalls[state]:.2f}" for card in cards)] for state in names]
    rows.append(["tensor pipe busy", *(f"{card['tensor_pipe_pct']:.0f} %" for card in cards)])
    first = cards[0]
    caption = f"cycles an instruction, recorded on an {first.conditions['gpu']} at {first.n} × {first.n} × {first.n}"
    return ShortTable(Table(["a warp's time", *(made.name for made in kernels)], rows, caption))


def conflict_counts(*names: str, n: int = 512) -> ShortTable:
    """What two pages of Nsight Compute say of the bank conflicts of one launch of each kernel at n × n × n.

    The Source page adds up the wavefronts of each instruction (`memory_l1_wavefronts_shared`) and the least possible
    number; their difference is the excess. The Details page reads counters of the pipe
    (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared`, the same with `_op_ld` and `_op_st`, and
    `l1tex__data_pipe_lsu_wavefronts_mem_shared`). Raises `KeyError` for a kernel that is not in
    results/profiles/h100/conflicts.csv.
    """
    recorded = {(row["kernel"], int(row["n"])): row for row in read_rows(data_dir("results") / CONFLICTS)}
    found = [recorded[name, n] for name in names]
    rows = []
    for row in found:
        least, own = int(row["ideal_wavefronts"]), int(row["wavefronts"])
        details = (int(row[column]) for column in DETAILS)
        rows.append([row["kernel"], *(f"{number:,}" for number in (own, own - least, *details))])
    header = ["kernel", "Source: wavefronts", "excess", "Details: conflicts", "of loads", "of stores", "wavefronts"]
    first = found[0]
    caption = f"Nsight Compute {first['ncu']}, {first['gpu']}, {n} × {n} × {n}, {first['date']}"
    return ShortTable(Table(header, rows, caption))
