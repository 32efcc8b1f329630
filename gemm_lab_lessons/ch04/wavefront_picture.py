"""Draws wavefronts: a row for each pass over the banks, with the lanes that it serves."""

from __future__ import annotations

import numpy as np

from gemm_lab.notebook.widgets.colours import bank_colour
from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card

HEAD, PHASE_GAP = 0.12, 0.07
MOST_LINES, LEFT, RIGHT = 32, 1.2, 0.25
LABEL = 0.16  # least inches of a row with a label


def picture(widget) -> Card:
    """The wavefront stepper's still picture: the source line, the lines of shared memory it uses, the wavefronts."""
    access, line = widget.shown, widget.source_line
    lines = np.unique(access.addresses[access.active] // 128)[:MOST_LINES]
    row = float(np.clip(3.4 / len(lines), 0.1, 0.2))
    waves = 1.85 + len(lines) * row + 0.4
    page = Sheet(waves + height_of(access.schedule.phase) + 0.3)
    count, free = access.schedule.count, access.schedule.count <= access.ideal
    colour = style.GREEN if free else style.CONFLICT
    page.box(0.22, 0.22, 7.56, 0.9, fill="#F4F5F7", edge="#F4F5F7")
    page.box(0.22, 0.22, 0.05, 0.9, fill=colour, edge=colour, radius=0)
    page.text(0.42, 0.42, f"{count} wavefront{'s' * (count != 1)}", bold=True, size=style.LARGE, ha="left")
    what = "free of conflicts" if free else f"{count / access.ideal:.3g} × the ideal {access.ideal}"
    page.text(2.25, 0.42, what, bold=True, ha="left", colour=style.ink(colour))
    which = f"{widget.title}, warp {widget.warp}, execution {widget.execution + 1} of {len(widget.trace)}"
    page.text(0.42, 0.69, f"{which}: {access.opcode}", ha="left", colour=style.MUTED, size=style.FINE)
    text = f"{line.number}  {line.text.strip()}"
    text = text if len(text) <= 92 else text[:91] + "…"
    page.text(0.42, 0.93, text, ha="left", mono=True, size=style.FINE)
    page.text(0.25, 1.38, "Shared memory: the lines that the lanes name", bold=True, ha="left")
    _memory(page, access, lines, 1.75, row)
    page.text(0.25, waves - 0.12, "Wavefronts", bold=True, ha="left")
    draw_wavefronts(page, access, waves + 0.1)
    return page.fig


def _memory(page: Sheet, access, lines, top: float, row: float) -> None:
    width, first = (8 - LEFT - RIGHT) / 32, [access.schedule.phase.index(p) for p in access.schedule.phase]
    for bank in range(0, 32, 4):
        page.text(LEFT + bank * width, top - 0.11, str(bank), size=style.FINE, colour=style.MUTED, ha="left")
    for number, line in enumerate(lines):
        y = top + number * row
        if number % every(row) == 0:
            words = f"byte {int(line) * 128:,}"
            page.text(LEFT - 0.07, y + row / 2, words, size=style.FINE, colour=style.MUTED, ha="right")
        for bank in range(0, 32, 4):
            page.box(
                LEFT + bank * width, y, 4 * width, row - 0.02, fill=bank_colour(bank), edge="white", lw=0.6, radius=0
            )
        drawn: dict[int, list[int]] = {}
        for lane in np.flatnonzero(access.active & (access.addresses // 128 == line)):
            drawn.setdefault(int(access.addresses[lane]), []).append(int(lane))
        for address, lanes in drawn.items():
            numbers = access.schedule.wavefront[lanes].ravel()
            late = access.kind != "cp.async.cg" and any(n > first[n] for n in numbers)
            x, w = LEFT + address % 128 / 4 * width, max(access.width / 4 * width - 0.01, 0.05)
            fill = style.CONFLICT if late else bank_colour(address // 4 % 32, vivid=True)
            edge = style.CONFLICT if late else style.INK
            page.box(x, y, w, row - 0.02, fill=fill, edge=edge, lw=0.7, radius=0.02, z=4)
            if row >= LABEL and (said := _lanes_in(w, lanes)):
                colour = "white" if late else style.INK
                page.text(x + w / 2, y + row / 2, said, size=style.FINE, bold=True, colour=colour)


def every(row: float) -> int:
    """How many rows of this height, in inches, share one label."""
    return max(1, int(np.ceil(LABEL / row)))


def _lanes_in(width: float, lanes: list[int]) -> str:
    """The lane of a box, or how many lanes it has, as far as `width` inches are enough for the letters."""
    said = f"×{len(lanes)}" if len(lanes) > 1 else f"T{lanes[0]}" if width > 0.3 else str(lanes[0])
    return said if width > 0.1 * len(said) - 0.03 else ""


def _plan(phase: tuple[int, ...]) -> tuple[int, float, list[list[int]]]:
    """(number of columns, height of a row in inches, the phases of each column)."""
    phases = list(dict.fromkeys(phase))
    columns = 2 if len(phases) > 1 and len(phase) > 8 else 1
    parts = [phases[column::columns] for column in range(columns)]
    most = max(sum(number in part for number in phase) for part in parts)
    return columns, float(np.clip(3.4 / most, 0.07, 0.2)), parts


def height_of(phase: tuple[int, ...]) -> float:
    """The height in inches that `draw_wavefronts` needs. phase: the phase of each wavefront."""
    _, row, parts = _plan(phase)
    return HEAD + max(sum(number in part for number in phase) * row + (len(part) - 1) * PHASE_GAP for part in parts)


def draw_wavefronts(page: Sheet, access, top: float, banks: int = 32) -> None:
    """Draw the wavefronts of `access`, which has addresses, a kind and a schedule, below `top` (inches).

    Lanes that are not served in the first wavefront of their group are vermilion.
    """
    schedule = access.schedule
    columns, row, parts = _plan(schedule.phase)
    part_name = "pair" if access.kind == "cp.async.cg" else "group"  # of a source line and a shared line; of lanes
    several = part_name == "pair" or len(set(schedule.phase)) > 1

    def first_of(number: int) -> str:
        return f"{part_name} {number}" if several else "first"

    width, left = 7.56 / columns, 0.88 if columns == 1 else 0.78
    bank_width = (width - left - (1.15 if columns == 1 else 0.5)) / banks
    for column, part in enumerate(parts):
        x0, y = 0.22 + column * width + left, top + HEAD
        for bank in range(banks):
            page.box(
                x0 + bank * bank_width,
                top + 0.02,
                bank_width,
                0.035,
                radius=0,
                lw=0,
                fill=bank_colour(bank, banks, vivid=True),
                edge="none",
            )
            if bank % 4 == 0 or banks == 4:
                page.text(x0 + bank * bank_width, top - 0.06, str(bank), size=style.FINE, colour=style.MUTED, ha="left")
        for phase in part:
            numbers = [n for n, other in enumerate(schedule.phase) if other == phase]
            for turn, number in enumerate(numbers):
                late = turn > 0 and access.kind != "cp.async.cg"
                fill, edge = ("#FDEEE4", style.CONFLICT) if late else ("#F1F3F5", style.RULE)
                page.box(x0, y, banks * bank_width, row - 0.025, fill=fill, edge=edge, lw=0.3, radius=0)
                bytes_ = _runs(page, access, number, late, x0, y, row, bank_width, banks)
                if turn % every(row) == 0:
                    name = f"waited {turn}" if late else first_of(phase) if turn == 0 else "again"
                    colour = style.ink(style.CONFLICT) if late else style.MUTED
                    page.text(x0 - 0.07, y + row / 2, name, size=style.FINE, colour=colour, ha="right", bold=late)
                    said = f"{bytes_} of {banks * 4} bytes" if columns == 1 else f"{bytes_} B"
                    page.text(
                        x0 + banks * bank_width + 0.07, y + row / 2, said, size=style.FINE, colour=colour, ha="left"
                    )
                y += row
            y += PHASE_GAP


def _runs(page, access, number, late, x0, y, row, bank_width, banks) -> int:
    """Draw the runs of words that the same lanes access in this wavefront; returns the number of distinct bytes."""
    owners: dict[int, list[int]] = {}
    for lane, place in np.argwhere(access.schedule.wavefront == number):
        owners.setdefault(int(access.addresses[lane]) // 4 + int(place), []).append(int(lane))
    words, at = sorted(owners), 0
    while at < len(words):
        word, lanes, count = words[at], owners[words[at]], 1
        while (
            at + count < len(words)
            and words[at + count] == word + count
            and owners[word + count] == lanes
            and word % banks + count < banks
        ):
            count += 1
        fill = style.CONFLICT if late else bank_colour(word % banks, banks, vivid=True)
        x, w = x0 + word % banks * bank_width, count * bank_width - 0.01
        page.box(x, y, w, row - 0.025, fill=fill, edge="none", lw=0, radius=0.02, z=3)
        if row >= LABEL and (said := _lanes_in(w, lanes)):
            colour = "white" if late else style.INK
            page.text(x + w / 2, y + row / 2 - 0.01, said, size=style.FINE, bold=True, colour=colour)
        at += count
    return 4 * len(words)
