"""The card of a kernel: its problem and settings, its tile, its changes from the previous rung, its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from gemm_lab.cards.diff import Diff
from gemm_lab.cards.tile_picture import tile_picture
from gemm_lab.catalog import KernelSpec, Problem
from gemm_look.card import card, facts, folded, remark
from gemm_look.theme import tag

TILE = ("BLOCK_M", "BLOCK_N", "NUM_WARPS_M", "NUM_WARPS_N")  # settings that the picture of the tile needs


def kernel_card(label: str, spec: KernelSpec, config: Mapping[str, int], source: str, changed: Diff | None) -> str:
    """HTML of a kernel. label: its name with its settings.   changed: the difference to the rung before, if any.

    source: HTML of its source.
    """
    problem = spec.problem
    body = f"<div><b>{escape(label)}</b> &nbsp;{escape(spec.summary)}</div>"
    settings = [(name, str(value)) for name, value in config.items()]
    body += facts([("computes", problem.formula), ("types", types(problem)), *settings])
    if set(TILE) <= set(config):
        m, n, *warps = (config[name] for name in TILE)
        body += tile_picture((m, n), tuple(warps), (m // warps[0], n // warps[1]))
    if changed is not None:
        lines = f"{changed.count} new line" + "s" * (changed.count != 1)
        body += folded(f"what changes against {changed.before} ({lines})", changed.body())
    return card(body + source)


def edited_source(file: str, lines: Iterable[tuple[str, int, str]], regions: Sequence[str]) -> str:
    """HTML of the source of an edited kernel, folded, with the learner's lines lit.

    file: the name of the rung's file.   lines: (file, line number, text) of every line.   regions: the edited ones.
    """
    names = " and ".join(f"“{name}”" for name in regions)
    lines = list(lines)
    own = next((name for name, _, _ in lines if name != file), file)  # "cell", or the name of the learner's file
    note = f"▶ marks the region {names}. Its lines have the numbers of your {own}, and the others those of {file}."
    return folded(f"the whole kernel, with the region {names} marked ▶", remark(note) + lit_listing(lines, own))


def lit_listing(lines: Iterable[tuple[str, int, str]], lit: str) -> str:
    """(file, line number, text) of every line of a source; the lines of the file `lit` are lit and marked with ▶.

    The two kinds of lines have line numbers of their own, which is what a compiler's message names.
    """
    shown = []
    for file, number, text in lines:
        line = f"{'▶' if file == lit else ' '} {number:>3}  {escape(text, quote=False)}"
        shown.append(tag("mark", "lit", line) if file == lit else line)
    return tag("pre", "wide pre", "\n".join(shown))


def types(problem: Problem) -> str:
    """The types of a problem in words, such as "f32, multiplied in bf16, sums in f32"."""
    rounded = f", multiplied in {problem.compute}" if problem.compute else ""
    sums = problem.dtype_acc
    if problem.multiplied == "e4m3":  # the tensor cores keep fewer bits of such sums
        sums = f"{sums} after each {problem.promotion} of k" if problem.promotion else "the tensor cores"
    return f"{problem.dtype_in}{rounded}, sums in {sums}"
