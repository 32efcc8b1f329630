"""The learner's source with a margin that gives the costs of each line, as the simulator counted them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from gemm_look.card import card
from gemm_look.theme import tag
from gpu_simulator.report import Totals, sum_of

CONTEXT = 1  # lines shown before and after a line with costs
PRODUCTS = ("wgmma.mma_async", "tcgen05.mma")  # tensor cores that read shared memory themselves
COLLIDES, COLLIDES_MUCH = 1.05, 4  # conflict degrees from which a line has the first and the second colour


@dataclass(frozen=True)
class Cost(Totals):
    """Sums over instructions. Unlike in `Totals`, `requests` are those of global memory only.

    operand_bytes: bytes that tensor cores read from shared memory themselves, through descriptors. `wavefronts` has the
    reads of wgmma too, as an H200 counts them (`gpu_simulator.codegen.ops.matrix.wgmma`). For tcgen05 no count is
    recorded, so only the bytes are known.
    """

    operand_bytes: int = 0
    degree = Totals.conflict_degree

    @property
    def sectors_per_request(self) -> float:
        """Mean number of 32-byte sectors of global memory that a warp instruction accesses; 0 if there is none."""
        return self.sectors / self.requests if self.requests else 0.0


def cost(sites: Sequence[Any]) -> Cost:
    """The sum over sites of a report. The requests of a site count only if they access global memory."""
    operand_bytes = sum(site.bytes for site in sites if site.opcode.startswith(PRODUCTS))
    requests = sum(site.requests for site in sites if site.sectors)
    return Cost(**{**vars(sum_of(sites)), "requests": requests}, operand_bytes=operand_bytes)


@dataclass(frozen=True, kw_only=True)
class Line(Cost):
    """One source line with its costs."""

    number: int
    text: str
    file: str


def lines_of(report: Any, listing: Sequence[tuple[str, int, str]]) -> tuple[Line, ...]:
    """The lines of `listing`, each (file, number, text), with their costs from a report."""
    sites = report.sites_by_line(*dict.fromkeys(file for file, _, _ in listing))
    costs = {place: cost(here) for place, here in sites.items()}
    return tuple(
        Line(number=number, text=text, file=file, **vars(costs.get((file, number), Cost())))
        for file, number, text in listing
    )


@dataclass(frozen=True)
class HotLines:
    """The lines of a source with their costs. It is shown as the lines that access memory, each with its neighbours.

    lines: every line of the source, in order; the lines of an edited region have the learner's own numbers.
    report: the source of the costs.   where: the size that was counted, in words, if it is not that of the run.
    places: (file, line number) of the lines that are shown, such as those of some regions; None: of all lines.
    """

    label: str
    lines: tuple[Line, ...] = field(repr=False)
    report: Any = field(repr=False)
    where: str = ""
    places: frozenset[tuple[str, int]] | None = field(default=None, repr=False)

    @property
    def title(self) -> str:
        """The title of the card, with `where` the costs were counted."""
        return "what each line costs" + (f", {self.where}" if self.where else "")

    def without(self, hidden: Set[tuple[str, int]]) -> HotLines:
        """The same without the lines at the places `hidden`, each (file, line number)."""
        kept = tuple(line for line in self.lines if (line.file, line.number) not in hidden)
        return replace(self, lines=kept) if hidden else self

    def _shown(self) -> list[Line | None]:
        lines = self.lines
        hot = [
            index
            for index, line in enumerate(lines)
            if (line.wavefronts or line.sectors or line.operand_bytes)
            and (self.places is None or (line.file, line.number) in self.places)
        ]
        wanted = sorted(
            {near for index in hot for near in range(index - CONTEXT, index + CONTEXT + 1) if 0 <= near < len(lines)}
        )
        shown: list[Line | None] = []
        for previous, index in zip([None, *wanted], wanted, strict=False):
            if previous is not None and index > previous + 1:
                shown.append(None)
            shown.append(lines[index])
        return shown

    def _rows(self) -> list[tuple[Line | None, str]]:
        """(line, its margin and text) for every shown line; the line is None for the header, first, and for gaps."""
        shown = self._shown()
        products = any(line is not None and line.operand_bytes for line in shown)
        head = f" {'operands, KB':>12}" if products else ""
        rows: list[tuple[Line | None, str]] = [
            (None, f"{'wavefronts':>11} {'degree':>6} {'sectors/request':>15}{head} {'line':>5}")
        ]
        for line in shown:
            if line is None:
                rows.append((None, ""))
                continue
            margin = f"{_shown(line.wavefronts, ',', 11)} {_shown(line.degree, '.1f', 6)} "
            margin += _shown(line.sectors_per_request, ".1f", 15)
            margin += f" {_shown(line.operand_bytes / 1024, ',.0f', 12)}" if products else ""
            rows.append((line, f"{margin} {line.number:>5}  {line.text}"))
        return rows

    def __repr__(self) -> str:
        return "\n".join([*filter(None, [self.where]), *(text for _, text in self._rows())])

    def body(self) -> str:
        """The margin and the lines as HTML; lines with bank conflicts are coloured."""
        rows = []
        for line, text in self._rows():
            text = escape(text)
            if line is not None and line.degree is not None and line.degree >= COLLIDES:
                text = tag("span", "warm" if line.degree < COLLIDES_MUCH else "hot", text)
            rows.append(text)
        return tag("pre", "wide pre", "\n".join(rows))

    def _repr_html_(self) -> str:
        return card(f"<b>{escape(self.label)}</b>: {self.title}{self.body()}")


def _shown(value: float | None, form: str, width: int) -> str:
    """A number in this form, flush right; blank if there is nothing to count."""
    return f"{format(value, form) if value else '':>{width}}"
