"""Wavefronts drawn by Python: a row for each pass over the banks, with the lanes that it serves."""

from __future__ import annotations

import numpy as np

from gemm_lab.notebook.figures.sheet import Sheet
from gemm_lab.notebook.widgets.colours import bank_colour
from gemm_lab.plots import style

HEAD, PHASE_GAP = 0.12, 0.07


def _plan(phase: tuple[int, ...]) -> tuple[int, float, list[list[int]]]:
    """Columns, height of a row, and the phases of each column."""
    phases = list(dict.fromkeys(phase))
    columns = 2 if len(phases) > 1 and len(phase) > 8 else 1
    parts = [phases[column::columns] for column in range(columns)]
    most = max(sum(number in part for number in phase) for part in parts)
    return columns, float(np.clip(3.2 / most, 0.07, 0.19)), parts


def height_of(phase: tuple[int, ...]) -> float:
    """Inches that `draw_wavefronts` takes."""
    _, row, parts = _plan(phase)
    return HEAD + max(sum(number in part for number in phase) * row + (len(part) - 1) * PHASE_GAP for part in parts)


def draw_wavefronts(page: Sheet, access, top: float, banks: int = 32) -> None:
    """`access` has addresses, kind and schedule. Lanes that waited for another of their phase are vermilion."""
    schedule = access.schedule
    columns, row, parts = _plan(schedule.phase)
    width, left = 7.56 / columns, 0.82 if columns == 1 else 0.68
    bank_width = (width - left - (0.95 if columns == 1 else 0.4)) / banks
    for column, part in enumerate(parts):
        x0, y = 0.22 + column * width + left, top + HEAD
        for bank in range(banks):
            page.box(x0 + bank * bank_width, top + 0.02, bank_width, 0.035, radius=0, lw=0,
                     fill=bank_colour(bank, banks, vivid=True), edge="none")
            if bank % 4 == 0 or banks == 4:
                page.text(x0 + bank * bank_width, top - 0.05, str(bank), size=7, colour=style.MUTED, ha="left")
        for phase in part:
            numbers = [n for n, other in enumerate(schedule.phase) if other == phase]
            for turn, number in enumerate(numbers):
                late = turn > 0 and access.kind != "cp.async.cg"
                fill, edge = ("#FDEEE4", style.CONFLICT) if late else ("#F1F3F5", style.RULE)
                page.box(x0, y, banks * bank_width, row - 0.025, fill=fill, edge=edge, lw=0.3, radius=0)
                bytes_ = _runs(page, access, number, late, x0, y, row, bank_width, banks)
                if row > 0.1:
                    name = f"waited {turn}" if late else f"phase {phase}" if turn == 0 else "again"
                    colour = style.ink(style.CONFLICT) if late else style.MUTED
                    page.text(x0 - 0.07, y + row / 2, name, size=7.5, colour=colour, ha="right", bold=late)
                    said = f"{bytes_} of {banks * 4} bytes" if columns == 1 else f"{bytes_} B"
                    page.text(x0 + banks * bank_width + 0.07, y + row / 2, said, size=7.5, colour=colour, ha="left")
                y += row
            y += PHASE_GAP


def _runs(page, access, number, late, x0, y, row, bank_width, banks) -> int:
    """Runs of words that the same lanes get in this wavefront; returns the different bytes."""
    owners: dict[int, list[int]] = {}
    for lane, place in np.argwhere(access.schedule.wavefront == number):
        owners.setdefault(int(access.addresses[lane]) // 4 + int(place), []).append(int(lane))
    words, at = sorted(owners), 0
    while at < len(words):
        word, lanes, count = words[at], owners[words[at]], 1
        while (at + count < len(words) and words[at + count] == word + count and owners[word + count] == lanes
               and word % banks + count < banks):
            count += 1
        fill = style.CONFLICT if late else bank_colour(word % banks, banks, vivid=True)
        x, w = x0 + word % banks * bank_width, count * bank_width - 0.01
        page.box(x, y, w, row - 0.025, fill=fill, edge="none", lw=0, radius=0.02, z=3)
        if row > 0.1 and w > 0.11:
            said = f"×{len(lanes)}" if len(lanes) > 1 else f"T{lanes[0]}" if w > 0.24 else str(lanes[0])
            page.text(x + w / 2, y + row / 2 - 0.01, said, size=7.5 if w > 0.24 else 6, bold=True,
                      colour="white" if late else style.INK)
        at += count
    return 4 * len(words)
