"""The still pictures of the zoom's three outer levels: the matrices in DRAM, the block tiles, the warp tiles."""

from __future__ import annotations

import numpy as np

from gemm_lab.notebook.widgets.colours import oklch
from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab_lessons.zoom.zoom_still_parts import (
    PANEL,
    TINTS,
    Area,
    Column,
    arrangement,
    fill,
    name_matrices,
)
from gemm_lab_lessons.zoom.zoom_text import different_bytes

SECTOR = 32  # bytes
NO_K_TILES = "They are not cut into k tiles: the loop over k reads them little by little."


def dram_level(page: Sheet, area: Area, widget) -> None:
    """The matrices, cut into sectors: those that this warp's steps use, and those of this step."""
    scene = widget._recorded(widget.block)
    names = scene.by_name
    inner = Area(area.x, area.y + 0.28, area.w - PANEL - 0.35, area.h - 0.58)
    _, areas = arrangement(inner, scene.size, "C" in names)
    beside = Column(page, area.right - PANEL, area.y + 0.2)
    steps = scene.events(widget.warp)[: len(widget.scene["events"]["what"])]
    for name, matrix in names.items():
        used, now = _sectors(matrix, [event for _, event in steps]), _sectors(matrix, [widget.event])
        _sector_picture(page, areas[name], matrix, np.where(now, 2, used.astype(int)))
        page.box(beside.x, beside.y, 0.13, 0.13, fill=TINTS[name][int(used.any())], edge=style.RULE, radius=0)
        count = f"{name}: {used.sum():,} of {used.size:,} sectors"
        page.text(beside.x + 0.22, beside.y + 0.075, count, ha="left", size=style.FINE)
        beside.y += 0.23
    name_matrices(page, areas, {n: f"{n}  {m.rows} × {m.columns}" for n, m in names.items()})
    who = "all warps" if widget.warp < 0 else f"warp {widget.warp}"
    beside.write(
        f"A sector has {SECTOR} bytes. The middle colour is for sectors that the {_many(len(steps), 'step')} of {who} "
        "use, the strong colour for those of this step.",
        colour=style.MUTED,
    )
    event = widget.event
    if not event.outside:
        beside.write("This step does not touch global memory.")
        return
    beside.write(
        f"This step: {_many(event.sectors, 'sector')}, for {different_bytes(event):,} different bytes that the lanes "
        "ask for."
    )


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def _sectors(matrix, events: list) -> np.ndarray:
    """Which sectors of a matrix some events access: a row for each line that is contiguous in memory."""
    line = matrix.line * matrix.size
    found = np.zeros((matrix.rows if not matrix.across else matrix.columns, -(-line // SECTOR)), bool)
    for event in events:
        if not event.outside:
            continue
        addresses, width = (event.outside_bytes, 16) if event.source is None else (event.source, event.width)
        if addresses is None:
            continue
        for offset in range(0, max(width, 1), min(SECTOR, max(width, 1))):
            at = addresses[addresses >= 0] + offset
            at = at[matrix.has(at)] - matrix.first
            found[at // line, at % line // SECTOR] = True
    return found


def _sector_picture(page: Sheet, area: Area, matrix, shade: np.ndarray) -> None:
    """The sectors as small boxes; shade: 0, 1 or 2 for each, the number of its tint."""
    tints, shade = TINTS[matrix.name], shade.T if matrix.across else shade
    rows, columns = shade.shape
    wide, high = area.w / columns, area.h / rows
    fill(page, area, tints[0])
    for tint in (1, 2):
        for row in range(rows):
            for first, last in _runs(shade[row] == tint):
                box = Area(area.x + first * wide, area.y + row * high, (last - first) * wide, high)
                fill(page, box, tints[tint], z=2 + tint / 10)
    for number in range(1, columns) if wide >= 0.04 else ():
        page.line((area.x + number * wide, area.y), (area.x + number * wide, area.low), colour=style.PAPER, lw=0.6, z=3)
    for number in range(1, rows) if high >= 0.04 else ():
        page.line(
            (area.x, area.y + number * high), (area.right, area.y + number * high), colour=style.PAPER, lw=0.6, z=3
        )
    fill(page, area, "none", edge=style.MUTED, lw=0.8, z=4)


def _runs(row: np.ndarray) -> list[tuple[int, int]]:
    """(first, behind the last) of each run of True in a row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


# ---- Block tiles ----


def block_level(page: Sheet, area: Area, widget) -> None:
    """The product with the tile of this block, its strips of A and B, and the k tile of this step."""
    scene, events = widget.scene, widget.scene["events"]
    (m, n, k), (bm, bn, bk), step = scene["size"], scene["tile"], widget.step
    row, column = scene["tiles"][events["tile"][step]]
    now = next((events["k"][at] for at in range(step, -1, -1) if events["k"][at] >= 0), 0)
    inner = Area(area.x, area.y + 0.28, area.w - PANEL - 0.35, area.h - 0.58)
    unit, areas = arrangement(inner, (m, n, k))
    a, b, d = areas["A"], areas["B"], areas["D"]
    high, wide, deep = min(bm, m - row), min(bn, n - column), min(bk, k - now * bk)
    tile = Area(d.x + column * unit, d.y + row * unit, wide * unit, high * unit)
    for name, one in areas.items():
        fill(page, one, TINTS[name][0])
    fill(page, Area(a.x, tile.y, a.w, tile.h), TINTS["A"][1])
    fill(page, Area(tile.x, b.y, tile.w, b.h), TINTS["B"][1])
    fill(page, Area(a.x + now * bk * unit, tile.y, deep * unit, tile.h), TINTS["A"][2])
    fill(page, Area(tile.x, b.y + now * bk * unit, tile.w, deep * unit), TINTS["B"][2])
    fill(page, tile, TINTS["D"][1])
    for one, across, down in ((a, bk, bm), (b, bn, bk), (d, bn, bm)):
        _grid(page, one, across * unit, down * unit)
        fill(page, one, "none", edge=style.MUTED, lw=0.8, z=4)
    fill(page, tile, "none", edge=style.INK, lw=1.8, z=5)
    name_matrices(page, areas, {"A": f"A  {m} × {k}", "B": f"B  {k} × {n}", "D": f"D  {m} × {n}"})
    beside, count = Column(page, area.right - PANEL, area.y + 0.1), -(-k // bk)
    last = row + high - 1, column + wide - 1
    beside.write(f"Block tile: rows {row} to {last[0]}, columns {column} to {last[1]} of D.", bold=True)
    beside.write(f"It needs {high} rows of A and {wide} columns of B, the coloured strips.")
    pieces = f"They are read in k tiles of {bk}. The strong colour is k tile {now + 1} of {count}."
    whole = f"They are one k tile of {k}." if scene["tiled"] else NO_K_TILES
    beside.write(pieces if count > 1 else whole)
    if len(scene["tiles"]) > 1:
        beside.write(f"This block computes {len(scene['tiles'])} tiles one after the other.")
    grid = " × ".join(map(str, scene["grid"][: 3 if scene["grid"][2] > 1 else 2]))
    beside.write(f"The grid has {grid} blocks.", colour=style.MUTED)


def _grid(page: Sheet, area: Area, across: float, down: float) -> None:
    """Lines at these distances, in inches."""
    if across >= 0.03:
        for number in range(1, int(area.w / across + 1e-6) + 1):
            page.line((area.x + number * across, area.y), (area.x + number * across, area.low), colour=style.PAPER, z=3)
    if down >= 0.03:
        for number in range(1, int(area.h / down + 1e-6) + 1):
            page.line((area.x, area.y + number * down), (area.right, area.y + number * down), colour=style.PAPER, z=3)


# ---- Warp tiles ----


def warp_level(page: Sheet, area: Area, widget) -> None:
    """The block tile with its warps, what this step uses of A and B, and the lines of shared memory."""
    scene, recorded = widget.scene, widget._recorded(widget.block)
    (bm, bn, bk), event = scene["tile"], widget.event
    tile = scene["events"]["tile"][widget.step]
    ks = scene["events"]["k"]
    now = next((ks[at] for at in range(widget.step, -1, -1) if ks[at] >= 0), 0)
    origin, k0 = scene["tiles"][tile], now * bk
    inner = Area(area.x, area.y + 0.28, area.w - PANEL - 0.35, area.h - 0.58)
    unit, areas = arrangement(inner, (bm, bn, min(bk, scene["size"][2])))
    corners = {"A": (origin[0], k0), "B": (k0, origin[1]), "D": tuple(origin)}
    for name in "AB":
        fill(page, areas[name], TINTS[name][0])
    owners = scene["owners"].get(str(tile)) or next(iter(scene["owners"].values()))
    _owners(page, areas["D"], np.array(owners["cells"]), widget.warps, event.warp)
    for name, places in _touched(recorded, event).items():
        if name in corners:
            _lit(page, areas[name], places, corners[name], unit, TINTS[name][2])
    for one in areas.values():
        fill(page, one, "none", edge=style.MUTED, lw=0.8, z=5)
    name_matrices(page, areas, {"A": f"A tile {bm} × {bk}", "B": f"B tile {bk} × {bn}", "D": f"D tile {bm} × {bn}"})
    beside = Column(page, area.right - PANEL, area.y + 0.2)
    _shared(page, beside, area.h - 1.85, scene, event)
    told = f"Colours in D: which warp {owners['how']} what. Warp {event.warp} has a frame."
    beside.write(told, colour=style.MUTED)


def _owners(page: Sheet, area: Area, cells: np.ndarray, warps: int, warp: int) -> None:
    rows, columns = cells.shape
    wide, high = area.w / columns, area.h / rows
    for row in range(rows):
        for who in np.unique(cells[row]):
            for first, last in _runs(cells[row] == who):
                box = Area(area.x + first * wide, area.y + row * high, (last - first) * wide, high)
                fill(page, box, TINTS["D"][0] if who < 0 else warp_colour(int(who), warps))
    own = np.argwhere(cells == warp)
    if len(own):
        (top, left), (low, right) = own.min(0), own.max(0) + 1
        box = Area(area.x + left * wide, area.y + top * high, (right - left) * wide, (low - top) * high)
        if (cells[top:low, left:right] == warp).all():
            fill(page, box, "none", edge=style.INK, lw=1.6, z=6)
    for who in np.unique(cells[cells >= 0]):
        (top, left), (low, right) = np.argwhere(cells == who).min(0), np.argwhere(cells == who).max(0) + 1
        if (right - left) * wide >= 0.52 and (low - top) * high >= 0.22 and (cells[top:low, left:right] == who).all():
            page.text(area.x + left * wide + 0.06, area.y + low * high - 0.11, f"warp {who}", ha="left",
                      size=style.FINE, bold=bool(who == warp))  # fmt: skip


def warp_colour(warp: int, count: int) -> str:
    """A colour for each warp, pale enough for dark letters."""
    return oklch(0.86, 0.07, 165 + 300 * (warp % max(count, 8)) / max(count, 8))


def _touched(scene, event) -> dict[str, list[tuple[int, int, int, int]]]:
    """Matrix -> (row, column, rows, columns) of the parts that an event concerns."""
    corner, mma = scene.corner(event), scene.mma
    if corner and mma and mma["m"]:
        row, along, _, column = corner
        m, n, k = mma["m"], mma["n"], mma["k"]
        return {"A": [(row, along, m, k)], "B": [(along, column, k, n)], "D": [(row, column, m, n)]}
    addresses, width = (event.outside_bytes, 16) if event.source is None else (event.source, event.width)
    found: dict[str, list[tuple[int, int, int, int]]] = {}
    if addresses is None:
        return found
    for address in np.unique(addresses[addresses >= 0]).tolist():
        matrix = scene.matrix_at(np.array([address]))
        if matrix is None:
            continue
        row, column = (int(part[0]) for part in matrix.place(np.array([address])))
        count = max(min(width, 16) // matrix.size, 1)
        found.setdefault(matrix.name, []).append((row, column, *((count, 1) if matrix.across else (1, count))))
    return found


def _lit(page: Sheet, area: Area, places: list, corner: tuple[int, int], unit: float, colour: str) -> None:
    for row, column, rows, columns in places:
        x, y = area.x + (column - corner[1]) * unit, area.y + (row - corner[0]) * unit
        left, top = max(area.x, x), max(area.y, y)
        right, low = min(area.right, x + columns * unit), min(area.low, y + rows * unit)
        if right > left and low > top:
            fill(page, Area(left, top, right - left, low - top), colour, z=4)


def _shared(page: Sheet, beside: Column, room: float, scene: dict, event) -> None:
    """The 128-byte lines of shared memory in the colours of their matrices, at most `room` inches high, and words."""
    held = np.array(scene["shared"]["held"])
    beside.write("shared memory", 0, bold=True)
    if not len(held):
        beside.write("This kernel uses no shared memory.")
        return
    tall = min(room, 0.12 * len(held)) / len(held)
    whole = Area(beside.x, beside.y + 0.02, PANEL, tall * len(held))
    for matrix in np.unique(held):
        colour = TINTS["ABCD"[matrix - 1]][0] if matrix else "#F4F5F7"
        for first, last in _runs(held == matrix):
            fill(page, Area(whole.x, whole.y + first * tall, whole.w, (last - first) * tall), colour)
            if matrix and (last - first) * tall >= 0.2:
                middle = whole.y + (first + last) / 2 * tall
                page.text(whole.x - 0.08, middle, "ABCD"[matrix - 1], ha="right", bold=True, size=style.FINE)
    words = _words(event)
    for line in np.unique(words // 32).tolist():
        at = np.zeros(32, bool)
        at[words[words // 32 == line] % 32] = True
        for first, last in _runs(at):
            left, wide = whole.x + first * whole.w / 32, (last - first) * whole.w / 32
            fill(page, Area(left, whole.y + line * tall, wide, max(tall, 0.012)), style.INK, z=4)
    fill(page, whole, "none", edge=style.MUTED, lw=0.8, z=5)
    beside.y = whole.low
    dark = "Dark: the words of this step." if len(words) else "This step uses none of it."
    beside.write(f"{scene['shared']['bytes']:,} bytes in {len(held):,} lines of 128. {dark}", colour=style.MUTED)


def _words(event) -> np.ndarray:
    """The numbers of the words of shared memory that an event accesses."""
    if event.shared is not None:
        places = event.shared[event.shared >= 0]
        return np.unique(places[:, None] // 4 + np.arange(max(event.width // 4, 1)))
    chunks = event.shared_bytes if event.shared_bytes is not None else np.zeros(0, int)
    return (chunks[:, None] // 4 + np.arange(4)).reshape(-1)
