"""The card of a kernel: its problem and settings, its tile, its changes from the previous rung, its source."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from gemm_lab.cards.card import card, facts, folded
from gemm_lab.cards.diff import Diff
from gemm_lab.cards.source_code import code
from gemm_lab.cards.tile_picture import tile_picture
from gemm_lab.catalog import KernelSpec, Problem

TILE = ("BLOCK_M", "BLOCK_N", "NUM_WARPS_M", "NUM_WARPS_N")  # settings that the picture of the tile needs


def kernel_card(label: str, spec: KernelSpec, config: Mapping[str, int], source: str, changed: Diff | None) -> str:
    """HTML of a kernel. label: its name with its settings.   changed: the difference to the rung before, if any."""
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
    return card(body + folded("source", code(source)))


def types(problem: Problem) -> str:
    """The types of a problem in words, such as "f32, multiplied in bf16, sums in f32"."""
    rounded = f", multiplied in {problem.compute}" if problem.compute else ""
    return f"{problem.dtype_in}{rounded}, sums in {problem.dtype_acc}"
