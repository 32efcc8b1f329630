"""The lines of a learner's kernel that access memory: what each costs, and what it would cost at least."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gemm_lab.cards.hot_lines import Line, lines_of
from gemm_look.table import Table

WORST = "▶"
LONGEST = 110  # characters of a source line that are shown


@dataclass(frozen=True, kw_only=True)
class SimulatedLine(Line):
    """One source line with its costs. least_sectors: that the bytes of each access would fill if they lay together."""

    least_sectors: int = 0

    @property
    def excess(self) -> int:
        """Wavefronts of shared memory beyond the least possible."""
        return max(self.wavefronts - self.ideal_wavefronts, 0)

    @property
    def excess_sectors(self) -> int:
        """Sectors of global memory beyond the least possible."""
        return max(self.sectors - self.least_sectors, 0)


def simulated_lines(
    report: Any, listing: Sequence[tuple[str, int, str]], least_sectors: Mapping[int, int]
) -> tuple[SimulatedLine, ...]:
    """The lines of `listing`, each (file, number, text), that access shared or global memory.

    least_sectors: by instruction, an index of the report's sites; for the others the least is what they take.
    """
    numbers = {id(site): number for number, site in enumerate(report.sites)}
    places = report.sites_by_line(*dict.fromkeys(file for file, _, _ in listing))
    found = []
    for line in lines_of(report, listing):
        if line.wavefronts or line.sectors:
            sites = places[line.file, line.number]
            least = sum(least_sectors.get(numbers[id(site)], site.sectors) for site in sites)
            found.append(SimulatedLine(**vars(line), least_sectors=least))
    return tuple(found)


def line_table(lines: Sequence[SimulatedLine], worst: Sequence[SimulatedLine]) -> Table:
    """The lines as a table; the worst ones are lit and marked."""
    rows = []
    for line in lines:
        mark = f"{WORST} " if line in worst else ""
        shared = (line.wavefronts, line.ideal_wavefronts, line.excess) if line.wavefronts else ()
        sectors = (line.sectors, line.least_sectors) if line.sectors else ()
        cells = [f"{count:,}" for count in shared] or [""] * 3
        cells += [f"{count:,}" for count in sectors] or [""] * 2
        rows.append((f"{mark}{line.number}", textwrap.shorten(line.text, LONGEST, placeholder=" …"), *cells))
    header = ("line", "source", "wavefronts", "least", "excess", "sectors", "least")
    lit = [number for number, line in enumerate(lines) if line in worst]
    return Table(header, rows, text_columns=2, code=1, lit=lit)
