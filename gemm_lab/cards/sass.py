"""The result of `k.sass()`: the machine code of a kernel, or of one line of its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from gemm_look.card import card, facts, folded
from gemm_look.theme import tag
from gemm_results.errors import LabError
from gpu_simulator import compiler

SHOWN_OPEN, SHOWN = 12, 400  # most instructions that are shown without a click, and at all


@dataclass(frozen=True)
class Sass:
    """Machine code of a compiled kernel, or of one line of its source. lines: the instructions, as `SassLine`."""

    compiled: Any = field(repr=False)
    lines: tuple
    line: int | None = None

    @property
    def mix(self) -> dict[str, int]:
        """Number of instructions by opcode, most frequent first."""
        return dict(compiler.instruction_mix(self.lines).most_common())

    def __repr__(self) -> str:
        head = f"{self.compiled.name}, {self.compiled.arch}" + (f", line {self.line}" if self.line else "")
        mix = ", ".join(f"{count} {name}" for name, count in self.mix.items())
        return "\n".join(
            [f"{head}: {len(self.lines)} instructions ({mix})"]
            + [f"  {item.address:06x}  {item.text}" for item in self.lines]
        )

    def _repr_html_(self) -> str:
        head = f"{self.compiled.name} for {self.compiled.arch}" + (f", line {self.line}" if self.line else "")
        listing = "\n".join(f"{item.address:06x}  {item.text}" for item in self.lines[:SHOWN])
        pre = tag("pre", "pre", escape(listing))
        shown = pre if len(self.lines) <= SHOWN_OPEN else folded(f"{len(self.lines)} instructions", pre)
        mix = facts([(name, str(count)) for name, count in list(self.mix.items())[:10]])
        return card(f"<b>{escape(head)}</b>: {len(self.lines)} instructions{mix}{shown}")


def disassembled(compiled: Any, file: str, line: int | None = None) -> Sass:
    """The machine code of a compiled kernel, or only the instructions of one line of `file`.

    Raises `LabError`, with the nearest line that has instructions, if this line has none.
    """
    lines = compiler.disassemble(compiled)
    if line is None:
        return Sass(compiled, lines)
    found = tuple(item for item in lines if item.line == line and item.file == file)
    if not found:
        known = sorted({item.line for item in lines if item.file == file})
        near = min(known, key=lambda number: abs(number - line)) if known else None
        raise LabError(
            f"Line {line} of {file} has no machine instructions."
            + (f" The nearest line with instructions is {near}." if near else "")
        )
    return Sass(compiled, found, line)
