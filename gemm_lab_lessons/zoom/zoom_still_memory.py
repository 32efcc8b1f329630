"""The still pictures of the zoom's three inner levels: the fragments of an mma, the banks, the bits of an address."""

from __future__ import annotations

import numpy as np

from gemm_lab.notebook.widgets.colours import bank_colour, oklch
from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab_lessons.ch03.fragment_text import lanes_of
from gemm_lab_lessons.ch05.bits_picture import HIGH, BitRow
from gemm_lab_lessons.zoom.zoom_still_parts import TINTS, Area, Column, fill
from gpu_simulator.hardware.mma_layouts import Mma

MOST_WAVES, FEW_WAVES = 15, 10  # that are drawn; that leave room for the lines of memory
CELL = 0.26  # least width in inches of a cell with the letter T and the number of a lane
WIDEST = 0.36
WORDS = 1.95  # inches of the words beside the fragments


def fragment_level(page: Sheet, area: Area, widget) -> None:
    """A, B and D of one mma with the lane of each register, and what the chosen lane holds."""
    scene, mma, lane = widget._recorded(widget.block), widget.scene["mma"], widget.lane
    of_group = mma["kind"] == "wgmma" or not mma["shape"]
    form = Mma("m16n8k16", "bf16", "f32") if of_group else Mma(mma["shape"], mma["dtype"], mma["accumulator"])
    number, event = widget.nearest(lambda one: one.what == "mma") or (-1, None)
    corner = scene.corner(event) if event else None
    offsets = {}
    if corner:
        offsets = {"A": corner[:2], "B": corner[2:], "C": (corner[0], corner[3])}
    grids = {name: lanes_of(form, name)[0] for name in ("C" if of_group else "ABC")}
    gap = 0.38
    room = area.w - WORDS - 0.2 - gap * len(grids)
    wide = min(WIDEST, room / sum(grid.shape[1] for grid in grids.values()))
    tall = min(0.205, (area.h - 0.75) / max(grid.shape[0] for grid in grids.values()))
    page.text(area.x, area.y + 0.05, mma["opcode"], mono=True, bold=True, size=style.FINE, ha="left")
    x, top = area.x + gap, area.y + 0.5
    for name, grid in grids.items():
        title = "D" if name == "C" else name
        _fragment(page, Area(x, top, grid.shape[1] * wide, grid.shape[0] * tall), grid, title, lane)
        page.text(x + grid.shape[1] * wide / 2, top - 0.13, title, bold=True, colour=style.ink(TINTS[title][2]))
        if name in offsets:
            (row, column), (rows, columns), low = offsets[name], form.extent(name), top + grid.shape[0] * tall
            page.text(x - 0.05, top + tall / 2, str(row), size=style.FINE, ha="right", colour=style.MUTED)
            page.text(x - 0.05, low - tall / 2, str(row + rows - 1), size=style.FINE, ha="right", colour=style.MUTED)
            page.text(x + grid.shape[1] * wide / 2, low + 0.12, f"columns {column}–{column + columns - 1}",
                      size=style.FINE, colour=style.MUTED)  # fmt: skip
        x += grid.shape[1] * wide + gap
    _holding(Column(page, area.right - WORDS, area.y + 0.4, 28), form, list(grids), offsets, lane, number)


def _fragment(page: Sheet, area: Area, grid: np.ndarray, title: str, lane: int) -> None:
    rows, columns = grid.shape
    wide, tall = area.w / columns, area.h / rows
    for row in range(rows):
        for column in range(columns):
            holder = int(grid[row, column])
            on = holder == lane
            colour = TINTS[title][2] if on else oklch(0.93, 0.045, 100 + 360 * (holder >> 2) / 8)
            x, y = area.x + column * wide, area.y + row * tall
            fill(page, Area(x + 0.006, y + 0.006, wide - 0.012, tall - 0.012), colour)
            if wide >= 0.19 and tall >= 0.15:
                words = f"T{holder}" if wide >= CELL + 0.04 else str(holder)
                page.text(x + wide / 2, y + tall / 2, words, size=style.FINE, bold=on, colour=style.text_on(colour))
    fill(page, area, "none", edge=style.MUTED, lw=0.8, z=4)


def _holding(beside: Column, form: Mma, names: list, offsets: dict, lane: int, number: int) -> None:
    """Write which elements the lane holds, and of which step."""
    beside.write(f"Lane {lane} of the warp holds", 0, bold=True)
    for name in names:
        first, title, parts = offsets.get(name, (0, 0)), "D" if name == "C" else name, []
        for places in form.coordinates(name)[lane].tolist():
            (top, left), (low, right) = (np.add(place, first).tolist() for place in (places[0], places[-1]))
            rows, columns = (f"{a}" if a == b else f"{a}–{b}" for a, b in ((top, low), (left, right)))
            parts.append(f"{title}[{rows}, {columns}]")
        for at in range(0, len(parts), 2):
            beside.write("  ".join(parts[at : at + 2]), 0 if at else 0.06)
    if number >= 0:
        beside.write(f"in the mma of step {number + 1:,}.")
    beside.write("The number in a cell is the lane that holds it.", colour=style.MUTED)
    if not offsets:
        beside.write("Rows and columns are counted within the fragment.", colour=style.MUTED)


# ---- Banks ----


def bank_level(page: Sheet, area: Area, widget) -> None:
    """The wavefronts of the access to shared memory that is nearest to the step, and the lines with its words."""
    number, access = widget.shared_event
    schedule, event = access.schedule, widget.nearest(lambda one: one.shared is not None)[1]
    left, each = area.x + 1.05, (area.w - 1.05) / 32
    shown, first = min(schedule.count, MOST_WAVES), {p: schedule.phase.index(p) for p in schedule.phase}
    more = f", the first {MOST_WAVES} of which are drawn" if schedule.count > MOST_WAVES else ""
    waves = f"{event.waves} wavefront{'s' * (event.waves != 1)}"
    page.text(area.x, area.y + 0.05, f"Step {number + 1:,}: {access.opcode}: {waves}{more}"[:100], bold=True,
              size=style.FINE, ha="left")  # fmt: skip
    worse = event.ideal and event.waves > event.ideal
    says = (f"{event.ideal} would be enough: words of one bank wait for each other (orange)." if worse
            else "No bank has two different words in one wavefront.")  # fmt: skip
    page.text(area.x, area.y + 0.27, f"{says} Numbers are lanes; lane {widget.lane} has a frame.",
              size=style.FINE, ha="left", colour=style.MUTED)  # fmt: skip
    top = area.y + 0.68
    row = min(0.2, (area.h - (1.35 if shown <= FEW_WAVES else 0.72)) / max(shown, 1))
    _bank_numbers(page, left, top, each)
    late_words = set()
    for wave in range(shown):
        y, late = top + wave * row, access.kind != "cp.async.cg" and wave > first[schedule.phase[wave]]
        fill(page, Area(left, y, 32 * each, row - 0.02), "#FDEEE4" if late else "#F1F3F5")
        if wave % _every(row) == 0:
            colour = style.ink(style.CONFLICT) if late else style.MUTED
            page.text(left - 0.08, y + row / 2, f"wavefront {wave + 1}", size=style.FINE, ha="right", colour=colour)
        drawn: dict[int, list[int]] = {}
        for lane, place in np.argwhere(schedule.wavefront == wave):
            drawn.setdefault(int(access.addresses[lane]) // 4 + int(place), []).append(int(lane))
        for word, lanes in drawn.items():
            late_words |= {word} if late else set()
            mine, colour = widget.lane in lanes, style.CONFLICT if late else bank_colour(word % 32, vivid=True)
            box = Area(left + word % 32 * each + 0.006, y, each - 0.012, row - 0.02)
            fill(page, box, colour, edge=style.INK if mine else "none", lw=1.6 if mine else 0, z=5 if mine else 3)
            if len(lanes) == 1 and row >= 0.16:
                page.text(box.x + box.w / 2, y + row / 2 - 0.01, str(lanes[0]), size=style.FINE, bold=mine or late,
                          colour=style.PAPER if late else style.INK)  # fmt: skip
    _lines(page, Area(left, top + shown * row + 0.16, 32 * each, area.low), access, late_words)


def _bank_numbers(page: Sheet, left: float, top: float, each: float) -> None:
    page.text(left - 0.08, top - 0.16, "bank", size=style.FINE, ha="right", colour=style.MUTED)
    for bank in range(32):
        fill(page, Area(left + bank * each, top - 0.07, each, 0.035), bank_colour(bank, vivid=True))
        if bank % 4 == 0:
            page.text(left + (bank + 0.5) * each, top - 0.16, str(bank), size=style.FINE, colour=style.MUTED)


def _lines(page: Sheet, area: Area, access, late: set[int]) -> None:
    """The same words where they lie: in lines of 128 bytes. area.h is the lower edge."""
    words = np.unique(access.addresses[access.active][:, None] // 4 + np.arange(max(access.width // 4, 1)))
    lines = np.unique(words // 32)
    row = min(0.18, (area.h - area.y) / len(lines))
    if row < 0.04:
        return
    used = set(words.tolist())
    for number, line in enumerate(lines.tolist()):
        y = area.y + number * row
        for bank in range(32):
            word = 32 * line + bank
            colour = style.CONFLICT if word in late else bank_colour(bank, vivid=word in used)
            fill(page, Area(area.x + bank * area.w / 32, y, area.w / 32 - 0.01, row - 0.012), colour)
        if number % _every(row) == 0:
            page.text(area.x - 0.08, y + row / 2, f"line {line}", size=style.FINE, ha="right", colour=style.MUTED)


def _every(row: float) -> int:
    """Each how manieth row of this height, in inches, has room for a label."""
    return max(1, int(np.ceil(0.15 / row)))


# ---- Bits ----


def bits_level(page: Sheet, area: Area, widget) -> None:
    """The bits of the address of one lane, with the XOR that the recorded addresses of its tile follow."""
    recorded, (number, event) = widget._recorded(widget.block), widget.nearest(lambda one: one.shared is not None)
    lane = widget.lane if event.shared[widget.lane] >= 0 else int(np.flatnonzero(event.shared >= 0)[0])
    address = int(event.shared[lane])
    source = -1 if event.source is None else int(event.source[lane])
    matrix = recorded.matrix_at(np.array([source])) if source >= 0 else None
    layout = recorded.layouts.get(matrix.name) if matrix else None
    xor = layout["xor"] if layout else []
    page.text(area.x, area.y + 0.05, f"Lane {lane} of step {number + 1:,}: address {address:,} in shared memory",
              bold=True, size=style.FINE, ha="left")  # fmt: skip
    holds = "Which element lies here is not recorded."
    if matrix:
        place = ", ".join(str(int(part[0])) for part in matrix.place(np.array([source])))
        holds = f"It holds {matrix.name}[{place}]{' and the elements after it' * (event.width > matrix.size)}."
    page.text(area.x, area.y + 0.27, holds, size=style.FINE, ha="left", colour=style.MUTED)
    count = max(10, (widget.scene["shared"]["bytes"] - 1).bit_length())
    bits = BitRow(page, area.x + 1.2, count, min(0.4, (area.w - 1.3) / count))
    base, undone = (layout["base"], address - layout["base"]) if layout else (0, address)
    for start, to in xor:
        undone ^= (address - base >> start & 1) << to
    plain, top, changed = undone + base, area.y + 0.68, sorted({to for _, to in xor})
    low = top + HIGH + 0.24 + 0.2 * len(changed) if xor else top
    bits.numbers(top - 0.11)
    page.text(bits.left - 0.1, top - 0.11, "bit", size=style.FINE, ha="right", colour=style.MUTED)
    starts = {start for start, _ in xor}
    if xor:
        bits.boxes(plain, top, lambda bit: "#BCD7F5" if bit in starts else style.PAPER, lambda bit: bit in starts)
        page.text(bits.left - 0.1, top + HIGH / 2, "without XOR", size=style.FINE, ha="right")
        for start, to in xor:
            level = top + HIGH + 0.14 + 0.2 * changed.index(to)
            bits.xor(start, to, top + HIGH, level, low, bool(plain >> start & 1))
        page.text(bits.left - 0.1, (top + HIGH + low) / 2, "XOR", bold=True, size=style.FINE, ha="right")
    vivid = bank_colour(address // 4 % 32, vivid=True)
    bits.boxes(address, low, lambda bit: vivid if 2 <= bit < 7 else style.PAPER,
               lambda bit: bool(xor) and (plain ^ address) >> bit & 1)  # fmt: skip
    page.text(bits.left - 0.1, low + HIGH / 2, "address", size=style.FINE, ha="right")
    bits.name(count - 1, 7, low + HIGH, f"line {address // 128}")
    bits.name(6, 2, low + HIGH, f"bank {address // 4 % 32}", bold=True)
    bits.name(1, 0, low + HIGH, f"byte {address % 4}")
    Column(page, area.x, low + HIGH + 0.4, 100).write(_rule(layout, undone, plain, address))


def _rule(layout: dict | None, undone: int, plain: int, address: int) -> str:
    """Sentences about the rule that the addresses of the tile follow, as in the live view."""
    if layout is None:
        return (
            "The recorded addresses of this tile follow none of the rules that the zoom looks for: rows of equal "
            "length, padded rows, and an XOR of bits of the row."
        )
    row, byte = divmod(undone, layout["stride"])
    base = f" + {layout['base']:,}" if layout["base"] else ""
    total = f"{layout['stride']} × row {row} + byte {byte}{base} = {plain:,}"
    if not layout["xor"]:
        return f"All recorded addresses of this tile follow one rule: {total}. There is no XOR."
    changed = len({to for _, to in layout["xor"]})
    return (
        f"All recorded addresses of this tile follow one rule. First {total}; then {len(layout['xor'])} bits of the "
        f"row change {changed} bits of the chunk by XOR, which gives {address:,}. Rows that began in the same bank "
        "now begin in different ones."
    )
