"""What the zoom sends to the browser: the matrices, the tiles, and the events of one warp, as plain lists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gemm_lab.lab.actions import source
from gemm_lab.notebook.later_exercises import left_out
from gemm_lab_lessons.zoom.zoom_events import Event, Log, recorded
from gemm_lab_lessons.zoom.zoom_layout import layout_of
from gemm_lab_lessons.zoom.zoom_matrices import Matrix, matrices_of
from gemm_lab_lessons.zoom.zoom_text import Speaker, shape_of
from gpu_simulator.hardware.mma_layouts import ACCUMULATORS, SHAPES

ALL_WARPS = -1
MOST_SENT = 4000  # events
MOST_BYTES = 1_900_000  # of the scene as JSON
MOST_CELLS = 64  # of the picture of who owns which part of a block tile, along each side
NAMES = "ABCD"
_COLUMNS = "line op warp what width waves ideal sectors s sb g gb outside writes rs rsb ro rob k tile corner says"
# Of the table of events; s, g, rs, ro are numbers of patterns, and sb, gb, rsb, rob their base addresses


class Table:
    """Keeps each value once, and gives its number."""

    def __init__(self):
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, key, value=None) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(key if value is None else value)
        return self._numbers[key]


class Scene:
    """One block of a run, recorded. `sent(warp)` is what the browser gets."""

    def __init__(self, run, block: int, hidden: Mapping[tuple[str, int], str] | None = None):
        self.run, self.block, self.hidden = run, block, hidden or {}  # hidden: (file, line number) -> exercise
        report = run._counted()
        log, recorder = recorded(report, block)
        self.log: Log = log
        self.launch, self.program = report._launch, recorder.resident.program
        self.threads, self.warps = recorder.resident.launch.threads, recorder.resident.warps_per_block
        self.matrices = matrices_of(run, self.launch)
        self.by_name = {matrix.name: matrix for matrix in self.matrices}
        self.listing = list(source.listing(run.kernel))
        self.line_of_site = self._lines(report)
        self.speaker = Speaker(self)

    def _lines(self, report) -> dict[int, int]:
        """Site -> position of its line in the listing."""
        spec = self.run.kernel.spec
        files = dict.fromkeys(("cell", spec.file, *(file for file, _, _ in self.listing)))
        at = {(file, number): position for position, (file, number, _) in enumerate(self.listing)}
        sites = {id(site): number for number, site in enumerate(report.sites)}
        return {
            sites[id(site)]: at[place]
            for place, group in report.sites_by_line(*files).items()
            if place in at
            for site in group
        }

    @cached_property
    def shown(self) -> tuple[list[list], list[int]]:
        """[line number, text, 1 for a line of the learner's cell] of the lines that the browser gets, and for every
        line of the listing its place among them. Neighbouring lines that are left out have one line in their place.
        """
        lines: list[list] = []
        places, mixed = [], bool(self.run.kernel.edits)
        for file, number, text in left_out(self.listing, self.hidden):
            if text is not None:
                lines.append([number, text, int(mixed and file == "cell")])
            places.append(len(lines) - 1)
        return lines, places

    # ---- Where things are ----

    def matrix_at(self, addresses: np.ndarray | None) -> Matrix | None:
        """The matrix that holds the first known one of some addresses."""
        if addresses is None:
            return None
        known = addresses[addresses >= 0]
        return next((matrix for matrix in self.matrices if len(known) and matrix.has(known[:1])[0]), None)

    def reach(self, event: Event) -> tuple[Matrix, tuple[int, int, int, int]] | None:
        """The matrix that an event's data belong to, and the rows and columns that they cover."""
        addresses, width = (event.outside_bytes, 16) if event.source is None else (event.source, event.width)
        matrix = self.matrix_at(addresses)
        if matrix is None:
            return None
        mine = addresses[(addresses >= 0) & matrix.has(addresses)]
        if event.source is not None and event.shared is not None and not event.outside:
            width = min(width, 16)
        return matrix, matrix.reach(mine, width)

    def corner(self, event: Event) -> tuple[int, int, int, int] | None:
        """(row of A, column of A, row of B, column of B) of an mma's first elements; None if they are not known."""
        places = []
        for name, address in zip("AB", event.corners, strict=True):
            matrix = self.by_name.get(name)
            if matrix is None or address < 0 or not matrix.has(np.array([address]))[0]:
                return None
            row, column = matrix.place(np.array([address]))
            places += [int(row[0]), int(column[0])]
        return tuple(places)

    @cached_property
    def tile(self) -> tuple[int, int, int]:
        """(rows, columns, depth) of a block tile: the settings of the kernel, or else what the block writes."""
        config, (m, n, k) = self.run.kernel.config, self.size
        depth = config.get("BLOCK_K", 0) * config.get("K_UNROLL", 1) or k
        if "BLOCK_M" in config and "BLOCK_N" in config:
            return config["BLOCK_M"], config["BLOCK_N"], min(depth, k)
        return m, n, min(depth, k)

    @cached_property
    def size(self) -> tuple[int, int, int]:
        return (self.run.m, self.run.n, self.run.k) if self.run.report is not None else self.run._size_counted()

    @cached_property
    def tiles(self) -> tuple[list[tuple[int, int]], list[int]]:
        """The block tiles of D that the block computes, as (first row, first column), and the tile of every event.

        An event belongs to the tile that its warp, or else the block, writes next.
        """
        (height, width, _), found, of = self.tile, Table(), [0] * len(self.log.events)
        following: dict[int, int] = {}
        anyone = -1
        for number in range(len(self.log.events) - 1, -1, -1):
            event = self.log.events[number]
            if event.writes and event.outside and (reach := self.reach(event)) and reach[0].name == "D":
                corner = (reach[1][0] // height * height, reach[1][2] // width * width)
                anyone = following[event.warp] = found.number(corner)
            of[number] = following.get(event.warp, anyone)
        if not found.values:
            rows = self._least("A", 0) // height * height, self._least("B", 2) // width * width
            found.number(rows)
        last = len(found.values) - 1  # tiles were met backwards
        return found.values[::-1], [last - max(tile, 0) if tile >= 0 else last for tile in of]

    def _least(self, name: str, which: int) -> int:
        reaches = [reach for event in self.log.events if (reach := self.reach(event)) and reach[0].name == name]
        return min((reach[1][which] for reach in reaches), default=0)

    def owners(self, tile: int) -> dict:
        """Which warp multiplies, or at least writes, which part of a block tile: a coarse picture of warp numbers."""
        (row, column), (height, width, _) = self.tiles[0][tile], self.tile
        step_m, step_n = max(1, height // MOST_CELLS), max(1, width // MOST_CELLS)
        cells = np.full((-(-height // step_m), -(-width // step_n)), -1)
        how = "multiplies"
        shape = self.mma
        for event, of in zip(self.log.events, self.tiles[1], strict=True):
            corner = self.corner(event) if event.what == "mma" and of == tile else None
            if corner and shape and shape["m"]:
                top, left = (corner[0] - row) // step_m, (corner[3] - column) // step_n
                if top >= 0 and left >= 0:
                    cells[top : top + max(1, shape["m"] // step_m), left : left + max(1, shape["n"] // step_n)] = (
                        event.warp
                    )
        if (cells < 0).all():
            how = "writes"
            for event in self.log.events:
                reach = self.reach(event) if event.writes and event.outside else None
                if reach is None or reach[0].name != "D":
                    continue
                addresses = event.outside_bytes if event.source is None else event.source[event.source >= 0]
                span = 16 if event.source is None else event.width
                for offset in range(0, span, reach[0].size):
                    rows, columns = reach[0].place(addresses + offset)
                    down, right = (rows - row) // step_m, (columns - column) // step_n
                    inside = (down >= 0) & (right >= 0) & (down < cells.shape[0]) & (right < cells.shape[1])
                    cells[down[inside], right[inside]] = event.warp
        return {"how": how, "cells": cells.tolist()}

    @cached_property
    def mma(self) -> dict | None:
        """The first mma of the block: {"opcode", "kind", "shape", "dtype", "accumulator", "m", "n", "k"}."""
        for event in self.log.events:
            if event.what == "mma":
                item = self.program.sites[event.site]
                shape, (m, n, k) = shape_of(item.parts)
                types = [p for p in item.parts if p in SHAPES or p in ("f32", "s32")]
                dtype = next((p for p in types if p in SHAPES and p not in ("f64",)), "")
                if item.family == "mma" and len(types) >= 2:
                    dtype = types[1]
                known = dtype in SHAPES and shape in SHAPES[dtype] and item.family == "mma"
                accumulator = types[0] if types else ""
                if known and accumulator not in ACCUMULATORS[dtype]:
                    accumulator = ACCUMULATORS[dtype][0]
                return {"opcode": item.opcode, "kind": item.family, "shape": shape if known else "", "dtype": dtype,
                        "accumulator": accumulator, "m": m, "n": n, "k": k}  # fmt: skip
        return None

    @cached_property
    def lines_held(self) -> list[int]:
        """For every 128 bytes of shared memory: 1 + the number of the matrix first stored there, or 0."""
        held = [0] * -(-self.launch.smem_bytes // 128)
        for event in self.log.events:
            if event.what not in ("store", "copy", "bulk") or (event.what == "bulk" and event.writes):
                continue
            places = event.shared if event.shared is not None else event.shared_bytes
            matrix = self.matrix_at(event.source if event.source is not None else event.outside_bytes)
            if places is None or matrix is None:
                continue
            for line in set((places[places >= 0] // 128).tolist()):
                if line < len(held) and not held[line]:
                    held[line] = 1 + NAMES.index(matrix.name)
        return held

    @cached_property
    def layouts(self) -> dict[str, dict]:
        """Matrix name -> the layout of its tile in shared memory, where `layout_of` finds one."""
        found = {}
        for name in "AB":
            matrix = self.by_name.get(name)
            if matrix is None:
                continue
            addresses, places = self._first_tile(matrix)
            if not len(addresses):
                continue
            rows, columns = matrix.place(places)
            rows, columns = (columns, rows) if matrix.across else (rows, columns)
            layout = layout_of(addresses, rows, columns * matrix.size)
            if layout:
                found[name] = layout
        return found

    def _first_tile(self, matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """(shared addresses, global addresses) of the first tile of a matrix that the block stores."""
        depth, shared, places, seen = self.tile[2], [], [], set()
        for event in self.log.events:
            if event.pair is not None and not event.writes and matrix.has(event.pair[1][:1])[0]:
                to, of = event.pair
            elif event.what in ("store", "copy") and event.shared is not None and event.source is not None:
                good = (event.shared >= 0) & (event.source >= 0) & matrix.has(event.source)
                to, of = event.shared[good], event.source[good]
            else:
                continue
            if not len(to):
                continue
            row, column = matrix.place(of)
            along = column if matrix.name == "A" else row
            if int(along.min()) >= depth or seen & set(to.tolist()):
                break
            seen |= set(to.tolist())
            shared.append(to)
            places.append(of)
        empty = np.zeros(0, np.int64)
        return (np.concatenate(shared), np.concatenate(places)) if shared else (empty, empty)

    def k_of(self, event: Event) -> int:
        """The k tile that an event belongs to, from the columns of A or the rows of B; -1 if it has none."""
        if event.what == "mma":
            corner = self.corner(event)
            return -1 if corner is None else corner[1] // self.tile[2]
        reach = self.reach(event)
        if reach is None or reach[0].name not in "AB":
            return -1
        return reach[1][2 if reach[0].name == "A" else 0] // self.tile[2]

    # ---- What is sent ----

    def total(self, warp: int) -> int:
        return self.log.total if warp == ALL_WARPS else self.log.totals.get(warp, 0)

    def events(self, warp: int) -> list[tuple[int, Event]]:
        return [(n, event) for n, event in enumerate(self.log.events) if warp in (ALL_WARPS, event.warp)]

    def sent(self, warp: int) -> dict:
        """The scene of one warp, or of all, with at most `MOST_SENT` events and `MOST_BYTES`."""
        chosen = self.events(warp)[:MOST_SENT]
        while True:
            made = self._scene(warp, chosen)
            if len(json.dumps(made)) <= MOST_BYTES or len(chosen) < 16:
                return made
            chosen = chosen[: len(chosen) // 2]

    def _scene(self, warp: int, chosen: list[tuple[int, Event]]) -> dict:
        patterns, opcodes, said, pieces = Table(), Table(), Table(), Table()
        columns: dict[str, list] = {name: [] for name in _COLUMNS.split()}
        lines, places = self.shown
        whats = ["load", "store", "atomic", "ldmatrix", "stmatrix", "copy", "bulk", "tile", "mma"]
        for number, event in chosen:
            item = self.program.sites[event.site]
            s, sb = _pattern(patterns, event.shared)
            g, gb = _pattern(patterns, event.source)
            rs, rsb = _runs(pieces, event.shared_bytes)
            ro, rob = _runs(pieces, event.outside_bytes)
            row = {
                "line": places[at] if (at := self.line_of_site.get(event.site, -1)) >= 0 else -1,
                "op": opcodes.number(item.opcode), "warp": event.warp,
                "what": whats.index(event.what), "width": event.width, "waves": event.waves, "ideal": event.ideal,
                "sectors": event.sectors, "s": s, "sb": sb, "g": g, "gb": gb, "outside": int(event.outside),
                "writes": int(event.writes), "rs": rs, "rsb": rsb, "ro": ro, "rob": rob, "k": self.k_of(event),
                "tile": self.tiles[1][number], "says": said.number(self.speaker.says(event)),
                "corner": list(self.corner(event) or ()) if event.what == "mma" else [],
            }  # fmt: skip
            for name, value in row.items():
                columns[name].append(value)
        used = sorted(set(columns["tile"])) or [0]
        return {
            "size": list(self.size),
            "tile": list(self.tile),
            "tiled": "BLOCK_K" in self.run.kernel.config,
            "grid": list(self.launch.grid),
            "matrices": [matrix.plain() for matrix in self.matrices],
            "tiles": [list(tile) for tile in self.tiles[0]],
            "owners": {str(tile): self.owners(tile) for tile in used[:8]},
            "shared": {"bytes": self.launch.smem_bytes, "held": self.lines_held, "layouts": self.layouts},
            "mma": self.mma,
            "why": self.speaker.why(warp, [event for _, event in chosen]),
            "lines": lines,
            "whats": whats,
            "opcodes": opcodes.values,
            "patterns": patterns.values,
            "pieces": pieces.values,
            "says": said.values,
            "events": columns,
            "total": self.total(warp),
        }


def _pattern(table: Table, addresses: np.ndarray | None) -> tuple[int, int]:
    """(number of the pattern, base): the pattern has for each lane its distance from the base, -1 for none."""
    if addresses is None or not (addresses >= 0).any():
        return -1, 0
    base = int(addresses[addresses >= 0].min())
    relative = np.where(addresses >= 0, addresses - base, -1)
    return table.number(relative.tobytes(), relative.tolist()), base


def _runs(table: Table, chunks: np.ndarray | None) -> tuple[int, int]:
    """(number of the list of runs, base): the list has first byte and length of each run of 16-byte chunks."""
    if chunks is None or not len(chunks):
        return -1, 0
    base, relative = int(chunks[0]), np.unique(chunks) - int(chunks[0])
    starts = np.flatnonzero(np.diff(relative, prepend=-32) != 16)
    lengths = np.diff(np.append(starts, len(relative))) * 16
    runs = np.stack([relative[starts], lengths], 1).reshape(-1)
    return table.number(runs.tobytes(), runs.tolist()), base
