"""The card of an error: what is wrong in a sentence, and for source that does not compile, at which lines."""

from __future__ import annotations

from html import escape

from gemm_lab.cards.source_code import code_line
from gemm_look import theme
from gemm_look.card import card, mark
from gpu_simulator.compiler import CompileError
from gpu_simulator.errors import SimulatorError


def error_page(error: SimulatorError) -> str:
    """The HTML card for an error: the verdict of a wrong result, the lines that do not compile, or the message."""
    if getattr(error, "is_card", False):
        return error._repr_html_()
    if not isinstance(error, CompileError):
        return card(error._repr_html_(), theme.BAD)
    notes = ""
    for note in error.diagnostics:
        says = theme.tag("span", "bad" if note.severity == "error" else "warn", escape(note.message))
        line = code_line(note.text, note.caret) if note.text else ""
        notes += theme.tag("div", "note", f"<b>{escape(note.where)}</b>: {says}{line}")
    return card(f"<b>{mark(False)} {escape(error.name)} does not compile.</b>{notes}", theme.BAD)
