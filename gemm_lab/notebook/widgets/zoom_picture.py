"""The zoom's still picture: the product with the current block tile, and the shared memory that the step uses."""

from __future__ import annotations

from gemm_lab.notebook.widgets.colours import bank_colour
from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card

PALE = {"A": "#DFEBF5", "B": "#FAEED6", "D": "#DCF1EA"}
STRIP = {"A": "#9CC4E0", "B": "#EFC97C", "D": "#86CCB4"}
FULL = {"A": style.BLUE, "B": style.ORANGE, "D": style.GREEN}
LEFT, TOP, ROOM_W, ROOM_H, GAP = 0.3, 1.5, 3.6, 3.3, 0.16
RIGHT, MOST_WAVES = 4.45, 16


def picture(widget) -> Card:
    """The picture of the widget's current step."""
    page = Sheet(5.5)
    page.box(0.22, 0.22, 7.56, 0.9, fill="#F4F5F7", edge="#F4F5F7")
    page.box(0.22, 0.22, 0.05, 0.9, fill=style.BLUE, edge=style.BLUE, radius=0)
    page.text(0.42, 0.42, f"{widget.title}, block {widget.block}", bold=True, ha="left")
    for row, words in enumerate(_wrapped(widget.sentence, 106)[:2]):
        page.text(0.42, 0.69 + 0.22 * row, words, ha="left", size=9)
    _product(page, widget)
    _banks(page, widget)
    return page.fig


def _wrapped(words: str, most: int) -> list[str]:
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _product(page: Sheet, widget) -> None:
    scene, events = widget.scene, widget.scene["events"]
    (m, n, k), (bm, bn, bk), step = scene["size"], scene["tile"], widget.step
    row, column = scene["tiles"][events["tile"][step]]
    now = next((events["k"][at] for at in range(step, -1, -1) if events["k"][at] >= 0), 0)
    unit = min((ROOM_W - GAP) / (k + n), (ROOM_H - GAP) / (k + m))
    x, y = LEFT + k * unit + GAP, TOP + 0.2 + k * unit + GAP
    for name, left, top, wide, high in (("A", LEFT, y, k, m), ("B", x, TOP + 0.2, n, k), ("D", x, y, n, m)):
        page.box(left, top, wide * unit, high * unit, fill=PALE[name], radius=0)
    high, wide, deep = min(bm, m - row), min(bn, n - column), min(bk, k - now * bk)
    parts = [
        ("A", STRIP, LEFT, y + row * unit, k, high),
        ("B", STRIP, x + column * unit, TOP + 0.2, wide, k),
        ("A", FULL, LEFT + now * bk * unit, y + row * unit, deep, high),
        ("B", FULL, x + column * unit, TOP + 0.2 + now * bk * unit, wide, deep),
        ("D", FULL, x + column * unit, y + row * unit, wide, high),
    ]
    for name, shades, left, top, across, down in parts:
        page.box(left, top, across * unit, down * unit, fill=shades[name], edge=style.PAPER, radius=0, z=3)
    page.text(LEFT + k * unit / 2, y + m * unit + 0.16, f"A {m} × {k}", bold=True)
    page.text(x + n * unit / 2, TOP + 0.08, f"B {k} × {n}", bold=True)
    page.text(x + n * unit / 2, y + m * unit + 0.16, f"D {m} × {n}", bold=True)


def _banks(page: Sheet, widget) -> None:
    shared = widget.shared_event
    page.text(RIGHT, TOP + 0.08, "Shared memory: banks and wavefronts", bold=True, ha="left")
    if shared is None:
        for row, words in enumerate(_wrapped(widget.scene["why"].get("bank", "This warp uses no shared memory."), 46)):
            page.text(RIGHT, TOP + 0.4 + 0.22 * row, words, ha="left", size=9, colour=style.MUTED)
        return
    number, access = shared
    schedule, width = access.schedule, 3.3 / 32
    page.text(RIGHT, TOP + 0.36, f"step {number + 1}: {access.opcode}"[:52], ha="left", size=8.5, colour=style.MUTED)
    first = {phase: schedule.phase.index(phase) for phase in schedule.phase}
    row = min(0.2, 2.6 / max(min(schedule.count, MOST_WAVES), 1))
    for wave in range(min(schedule.count, MOST_WAVES)):
        y, late = TOP + 0.6 + wave * row, access.kind != "cp.async.cg" and wave > first[schedule.phase[wave]]
        page.box(RIGHT, y, 32 * width, row - 0.03, fill="#FDEEE4" if late else "#F1F3F5", edge="none", radius=0)
        for lane, place in zip(*(schedule.wavefront == wave).nonzero(), strict=True):
            bank = (int(access.addresses[lane]) // 4 + int(place)) % 32
            fill = style.CONFLICT if late else bank_colour(bank, vivid=True)
            page.box(RIGHT + bank * width, y, width - 0.01, row - 0.03, fill=fill, edge="none", lw=0, radius=0, z=3)
    y = TOP + 0.72 + min(schedule.count, MOST_WAVES) * row
    more = f", of which {MOST_WAVES} are drawn" if schedule.count > MOST_WAVES else ""
    page.text(RIGHT, y + 0.08, f"{schedule.count} wavefront{'s' * (schedule.count != 1)}{more}", ha="left", size=9)
    page.text(RIGHT, y + 0.32, "In a running notebook, this picture moves.", ha="left", size=9, colour=style.MUTED)
