"""The learner's source with a margin: what each line cost when the emulator ran it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from gemm_lab.cards import html

if TYPE_CHECKING:
    from gemm_lab.lab.kernel import Kernel

COUNTS = ("executions", "wavefronts", "ideal", "sectors", "requests", "operand_bytes")
PRODUCTS = ("wgmma.mma_async", "tcgen05.mma")  # tensor cores that read shared memory themselves
CONTEXT = 1  # lines shown around a line that counts


@dataclass(frozen=True)
class Line:
    """One source line. `wavefronts` of shared memory, `sectors` and `requests` of global memory, `operand_bytes` that
    tensor cores read in shared memory themselves, by descriptors. Those of wgmma are in the wavefronts too, as an H200
    counts them (`codegen/ops/matrix/wgmma.py`); for tcgen05 no count is recorded, so that only the bytes are shown.
    """

    number: int
    text: str
    file: str
    executions: int = 0
    wavefronts: int = 0
    ideal: int = 0
    sectors: int = 0
    requests: int = 0
    operand_bytes: int = 0

    @property
    def degree(self) -> float | None:
        """Wavefronts ÷ ideal wavefronts, None without shared accesses."""
        return self.wavefronts / self.ideal if self.ideal else None


@dataclass(frozen=True)
class HotLines:
    """Shows itself as the lines that touch memory, each with its cost; `.lines` holds all lines.

    where: the size that was counted, in words, where it is not that of the run.
    """

    report: Any = field(repr=False)
    kernel: Kernel = field(repr=False)
    where: str = ""

    @property
    def title(self) -> str:
        """What is shown, and `where` it was counted."""
        return "what each line costs" + (f", {self.where}" if self.where else "")

    @property
    def lines(self) -> list[Line]:
        """Every line of the source, in order, with the learner's own numbers inside an edited region."""
        spec, found = self.kernel.spec, []
        costs = {name: self._costs(name) for name in {spec.file, "cell"}}
        for file, number, text in self._numbered():
            found.append(Line(number, text, file, **costs[file].get(number, {})))
        return found

    def _costs(self, file: str) -> dict[int, dict[str, int]]:
        costs: dict[int, dict[str, int]] = {}
        for site in self.report.sites:
            name, number = site.outermost
            if name is None or name.rsplit("/", 1)[-1] != file:
                continue
            cost = costs.setdefault(number, dict.fromkeys(COUNTS, 0))
            cost["executions"] += site.executions
            cost["wavefronts"] += site.wavefronts
            cost["ideal"] += site.ideal_wavefronts
            if site.opcode.startswith(PRODUCTS):
                cost["operand_bytes"] += site.bytes
            if site.sectors:
                cost["sectors"] += site.sectors
                cost["requests"] += site.requests
        return costs

    def _numbered(self):
        kernel, spec = self.kernel, self.kernel.spec
        if kernel.whole:
            for offset, text in enumerate(kernel.whole.text.split("\n")):
                yield kernel.whole.file, kernel.whole.first_line + offset, text
            return
        regions = {region.first_line: (region, kernel.edits.get(name)) for name, region in spec.regions.items()}
        lines, number = spec.source.split("\n"), 1
        while number <= len(lines):
            region, edit = regions.get(number, (None, None))
            if edit is not None:
                for offset, text in enumerate(edit.text.rstrip("\n").split("\n")):
                    yield edit.file, edit.first_line + offset, text
                number = region.last_line + 1
            else:
                yield spec.file, number, lines[number - 1]
                number += 1

    def _shown(self) -> list[Line | None]:
        lines = self.lines
        hot = [index for index, line in enumerate(lines) if line.wavefronts or line.sectors or line.operand_bytes]
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
        """(line, its margin and text) for every shown line, after the head; None is a gap."""
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
            operands = f" {_operands(line):>12}" if products else ""
            margin = f"{_wavefronts(line):>11} {_degree(line):>6} {_sectors(line):>15}{operands} {line.number:>5}"
            rows.append((line, f"{margin}  {line.text}"))
        return rows

    def __repr__(self) -> str:
        return "\n".join([*filter(None, [self.where]), *(text for _, text in self._rows())])

    def body(self) -> str:
        """The margin and the lines as HTML, coloured where banks collide."""
        rows = []
        for line, text in self._rows():
            text = escape(text)
            if line is not None and line.degree is not None and line.degree >= 1.05:
                text = f'<span style="background:{"#fde9d9" if line.degree < 4 else "#f9c9b0"}">{text}</span>'
            rows.append(text)
        return (
            f'<pre style="background:{html.PAPER};color:{html.INK};font-size:12px;line-height:1.3;overflow-x:auto;'
            'margin:4px 0">' + "\n".join(rows) + "</pre>"
        )

    def _repr_html_(self) -> str:
        return html.card(f"<b>{escape(self.kernel.label)}</b>: {self.title}{self.body()}")


def _wavefronts(line: Line) -> str:
    return f"{line.wavefronts:,}" if line.wavefronts else ""


def _degree(line: Line) -> str:
    return f"{line.degree:.1f}" if line.degree is not None else ""


def _operands(line: Line) -> str:
    return f"{line.operand_bytes / 1024:,.0f}" if line.operand_bytes else ""


def _sectors(line: Line) -> str:
    return f"{line.sectors / line.requests:.1f}" if line.requests else ""
