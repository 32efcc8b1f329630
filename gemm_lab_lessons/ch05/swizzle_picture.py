"""Draws the swizzle explorer's still picture: the tile, its place in shared memory, wavefronts, and address bits."""

from __future__ import annotations

import numpy as np

from gemm_lab.notebook.widgets.colours import bank_colour
from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card
from gemm_lab_lessons.ch04.wavefront_picture import draw_wavefronts, height_of
from gemm_lab_lessons.ch05.bits_picture import HIGH, BitRow
from gemm_lab_lessons.ch05.tile_access import TileAccess

MOST_ROWS, ROW, PANEL, LEFT, RIGHT = 16, 0.19, 3.1, 0.68, 4.6
COVERING = 0.15  # inches from which on the box of a lane covers the words of its cell
LETTER = 0.082  # inches that a letter takes at most


def picture(access: TileAccess, selected: tuple[int, int], asked: bool = False) -> Card:
    """The picture, eight inches wide, with up to 16 rows of the tile around the access.

    selected: (row, byte) to mark. asked: the learner still has to predict the count, so it is not shown.
    """
    tile, schedule = access.layout, access.schedule
    low = max(min(int(access.rows[access.active].min()), tile.rows - MOST_ROWS), 0)
    rows = range(low, min(low + MOST_ROWS, tile.rows))
    first = low * tile.row_stride // tile.line_bytes if not tile.layout.startswith("tma") else _first_line(access)
    lines = range(first, min(first + len(rows), -(-tile.size_bytes // tile.line_bytes)))
    waves_y = 1.55 + len(rows) * ROW + 0.35
    bits_y = waves_y + (0 if asked else height_of(schedule.phase) + 0.55)
    page = Sheet(bits_y + 1.0 + (0.44 + 0.2 * tile.swizzle.bits if tile.swizzle and tile.swizzle.bits else 0))
    _verdict(page, access, asked)
    _tile(page, access, rows, selected, asked)
    _memory(page, access, lines, selected, asked)
    if not asked:
        page.text(0.25, waves_y - 0.12, "Wavefronts", bold=True, ha="left")
        draw_wavefronts(page, access, waves_y + 0.1, tile.banks)
    _bits(page, access, selected, bits_y)
    return page.fig


def _first_line(access: TileAccess) -> int:
    return int(access.addresses[access.active].min()) // access.layout.line_bytes


def _verdict(page: Sheet, access: TileAccess, asked: bool) -> None:
    tile, count = access.layout, access.schedule.count
    free = count <= access.ideal
    colour = style.RULE if asked else style.GREEN if free else style.CONFLICT
    page.box(0.22, 0.22, 7.56, 0.62, fill="#F4F5F7", edge="#F4F5F7")
    page.box(0.22, 0.22, 0.05, 0.62, fill=colour, edge=colour, radius=0)
    what = "free of conflicts" if free else f"{count / access.ideal:g} × the ideal {access.ideal}"
    if asked:
        page.text(0.42, 0.42, "How many wavefronts will this access take?", bold=True, ha="left")
    else:
        page.text(0.42, 0.42, f"{count} wavefront{'s' * (count != 1)}", bold=True, size=style.LARGE, ha="left")
        page.text(2.25, 0.42, what, bold=True, ha="left", colour=style.ink(colour))
    page.text(
        0.42,
        0.68,
        f"{access.name}: {access.says}   ·   {tile.rows} × {tile.row_bytes} bytes, {tile.name}",
        ha="left",
        colour=style.MUTED,
    )


def _scale(tile) -> tuple[float, float]:
    """The width of a byte in inches, in the panel of the tile and in that of memory."""
    memory = min(PANEL / tile.line_bytes, 0.11)
    return min(PANEL / tile.row_bytes, memory), memory


def _waits(access: TileAccess) -> np.ndarray:
    """For each lane, the number of wavefronts of its phase that come before its last one."""
    first = np.array([access.schedule.phase.index(p) for p in access.schedule.phase])
    number = access.schedule.wavefront
    return np.where(number >= 0, number - first[np.maximum(number, 0)], 0).max(1)


def _fits(words: str, width: float) -> bool:
    """Whether the smallest letters of the words fit into `width` inches."""
    return LETTER * len(words) < width + 0.02


def _covered(access: TileAccess, places, scale: float) -> set[tuple[int, int]]:
    """The cells (row, chunk) of a panel that are covered by lanes."""
    if access.width * scale < COVERING:
        return set()
    found = (places(lane) for lane in np.flatnonzero(access.active))
    return {(place[0], place[1] // access.layout.chunk_bytes) for place in found if place}


def _lanes(page: Sheet, access: TileAccess, places, x0: float, y0: float, scale: float, asked: bool) -> None:
    """Draw the lanes as boxes. `places(lane)` gives (row, byte) in the panel, or None if the lane is not in it."""
    waits, drawn = _waits(access), {}
    for lane in np.flatnonzero(access.active):
        if (place := places(lane)) is not None:
            drawn.setdefault(place, []).append(int(lane))
    for (row, byte), lanes in drawn.items():
        late = not asked and access.kind != "cp.async.cg" and waits[lanes].max() > 0
        bank = int(access.addresses[lanes[0]]) // 4 % access.layout.banks
        fill = style.CONFLICT if late else bank_colour(bank, access.layout.banks, vivid=True)
        width = max(access.width * scale, 0.04)
        page.box(
            x0 + byte * scale + 0.008,
            y0 + row * ROW + 0.008,
            width - 0.016,
            ROW - 0.016,
            fill=fill,
            radius=0.02,
            edge=style.CONFLICT if late else style.INK,
            lw=0.8,
            z=4,
        )
        words = f"×{len(lanes)}" if len(lanes) > 1 else f"T{lanes[0]}"
        words = words if _fits(words, width) else words[1:]
        if _fits(words, width):
            page.text(
                x0 + byte * scale + width / 2,
                y0 + (row + 0.5) * ROW,
                words,
                size=style.FINE,
                bold=True,
                colour="white" if late else style.INK,
            )


def _tile(page: Sheet, access: TileAccess, rows: range, selected, asked: bool) -> None:
    tile, (scale, _) = access.layout, _scale(access.layout)
    y0, piece = 1.45, tile.chunk_bytes
    page.text(LEFT - 0.37, 1.06, "The tile as you index it", bold=True, ha="left")
    for byte in range(0, tile.row_bytes, piece):
        if _fits(str(byte // piece), piece * scale):
            page.text(LEFT + byte * scale, y0 - 0.1, str(byte // piece), size=style.FINE, colour=style.MUTED, ha="left")

    def place(lane):
        row = int(access.rows[lane])
        return (row - rows[0], int(access.bytes[lane])) if row in rows else None

    covered = _covered(access, place, scale)
    page.text(
        LEFT - 0.06, y0 - 0.1, "chunk" if piece == 16 else "column", size=style.FINE, colour=style.MUTED, ha="right"
    )
    for line, row in enumerate(rows):
        page.text(LEFT - 0.06, y0 + (line + 0.5) * ROW, str(row), size=style.FINE, colour=style.MUTED, ha="right")
        for byte in range(0, tile.row_bytes, piece):
            bank = int(tile.address(row, byte)) // 4 % tile.banks
            page.box(
                LEFT + byte * scale,
                y0 + line * ROW,
                piece * scale,
                ROW,
                fill=bank_colour(bank, tile.banks),
                edge="white",
                lw=0.8,
                radius=0,
            )
            if _fits(str(bank), piece * scale) and (line, byte // piece) not in covered:
                page.text(
                    LEFT + (byte + piece / 2) * scale,
                    y0 + (line + 0.5) * ROW,
                    str(bank),
                    size=style.FINE,
                    colour=style.MUTED,
                )
    _lanes(page, access, place, LEFT, y0, scale, asked)
    row, byte = selected
    if row in rows:
        _frame(page, LEFT + byte // piece * piece * scale, y0 + (row - rows[0]) * ROW, piece * scale)


def _memory(page: Sheet, access: TileAccess, lines: range, selected, asked: bool) -> None:
    tile, (_, scale) = access.layout, _scale(access.layout)
    y0, piece, line_bytes = 1.45, tile.chunk_bytes, tile.line_bytes
    page.text(RIGHT - 0.37, 1.06, "The same in shared memory", bold=True, ha="left")

    def place(lane):
        line, at = divmod(int(access.addresses[lane]), line_bytes)
        return (line - lines[0], at) if line in lines else None

    covered = _covered(access, place, scale)
    page.text(RIGHT - 0.06, y0 - 0.1, "bank", size=style.FINE, colour=style.MUTED, ha="right")
    for at in range(0, line_bytes, piece):
        page.text(RIGHT + at * scale, y0 - 0.1, str(at // 4), size=style.FINE, colour=style.MUTED, ha="left")
    for number, line in enumerate(lines):
        y = y0 + number * ROW
        page.text(RIGHT - 0.06, y + ROW / 2, str(line), size=style.FINE, colour=style.MUTED, ha="right")
        for at in range(0, line_bytes, piece):
            address = line * line_bytes + at
            if address >= tile.size_bytes:
                continue
            row, byte = (int(v) for v in tile.place(address))
            fill = bank_colour(at // 4, tile.banks) if row >= 0 else "#ECEEF0"
            page.box(RIGHT + at * scale, y, piece * scale, ROW, fill=fill, edge="white", lw=0.8, radius=0)
            whole = row >= 0 and tile.place(address + piece - 1)[0] == row
            words = f"{row}·{byte // piece}" if whole else "" if row >= 0 else "pad"
            words = "" if (number, at // piece) in covered or not _fits(words, piece * scale) else words
            page.text(RIGHT + (at + piece / 2) * scale, y + ROW / 2, words, size=style.FINE, colour=style.MUTED)
    _lanes(page, access, place, RIGHT, y0, scale, asked)
    line, at = divmod(int(tile.address(selected[0], selected[1] // piece * piece)), line_bytes)
    if line in lines:
        _frame(page, RIGHT + at * scale, y0 + (line - lines[0]) * ROW, piece * scale)


def _frame(page: Sheet, x: float, y: float, width: float) -> None:
    page.box(x, y, width, ROW, fill="none", edge=style.INK, lw=1.8, radius=0, z=6)


def _bits(page: Sheet, access: TileAccess, selected, top: float) -> None:
    """Draw the address of the selected byte: the bits of row and column, the XOR, and the bank."""
    tile, swizzle = access.layout, access.layout.swizzle
    row, byte = selected[0], selected[1] // tile.element_bytes * tile.element_bytes
    plain, address = int(tile.plain_address(row, byte)), int(tile.address(row, byte))
    swizzle = swizzle if swizzle and swizzle.bits else None
    bits = BitRow(page, 1.55, max((tile.size_bytes - 1).bit_length(), 10))
    page.text(0.25, top - 0.12, f"The address of row {row}, column {byte // tile.element_bytes}", bold=True, ha="left")
    beside = {"size": style.FINE, "colour": style.MUTED}
    top += 0.22
    bits.numbers(top - 0.1)
    boxed = tile.layout.startswith("tma") and tile.row_bytes > tile.row_stride
    words = f"box {byte // tile.row_stride}: = {plain}" if boxed else f"{row} × {tile.row_stride} + {byte} = {plain}"
    bottom = top
    if swizzle:
        bottom = top + HIGH + 0.2 + swizzle.bits * 0.2
        bits.boxes(
            plain,
            top,
            lambda bit: "#BCD7F5" if swizzle.source >> bit & 1 else style.PAPER,
            lambda bit: swizzle.source >> bit & 1,
        )
        page.text(bits.left - 0.1, top + HIGH / 2, "row and column", ha="right", **beside)
        page.text(bits.right + 0.1, top + HIGH / 2, words, ha="left", **beside)
        words = f"= {address}"
        for number, bit in enumerate(b for b in range(bits.count) if swizzle.mask >> b & 1):
            source, level = bit + swizzle.shift, top + HIGH + 0.14 + number * 0.2
            bits.xor(source, bit, top + HIGH, level, bottom, bool(plain >> source & 1))
        low, ones = swizzle.base + max(-swizzle.shift, 0), (1 << swizzle.bits) - 1
        before, taken, after = plain >> low & ones, plain >> (low + swizzle.shift) & ones, address >> low & ones
        told = f"{before} XOR {taken} = {after}"
        page.text(bits.right + 0.1, (top + HIGH + bottom) / 2, told, ha="left", **beside)
    fill = bank_colour(address // 4 % tile.banks, tile.banks, vivid=True)
    bank_bits = tile.banks.bit_length() - 1
    bits.boxes(
        address,
        bottom,
        lambda bit: fill if 2 <= bit < 2 + bank_bits else style.PAPER,
        lambda bit: swizzle and swizzle.mask >> bit & 1 and (plain ^ address) >> bit & 1,
    )
    page.text(bits.left - 0.1, bottom + HIGH / 2, "address", ha="right", **beside)
    page.text(bits.right + 0.1, bottom + HIGH / 2, words, ha="left", **beside)
    bits.name(bits.count - 1, 2 + bank_bits, bottom + HIGH, f"line {address // tile.line_bytes}")
    bits.name(1 + bank_bits, 2, bottom + HIGH, f"bank {address // 4 % tile.banks}", bold=True)
    bits.name(1, 0, bottom + HIGH, "byte")
