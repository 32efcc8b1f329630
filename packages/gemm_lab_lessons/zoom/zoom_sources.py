"""Follows loaded values through the registers of a kernel, so that a word of shared memory can be named: A[3, 8].

The simulator knows where a value is loaded from and where it is stored to. Between the two it is in registers, which
may be copied, packed or rounded on the way. `Origins` carries the address in global memory along with the register.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.ir import Register, Vector

COPIES = {"mov", "cvt", "selp", "prmt"}  # instructions after which the value, perhaps rounded, is in another register
LOADS = {"ld", "ldu", "ldmatrix"}
HALVES = {"f16", "bf16", "f16x2", "bf16x2"}
CELL = 2  # bytes; the smallest element that is followed
UNKNOWN = -1


def registers_of(operand) -> list[int | None]:
    """The numbers of the registers in an operand; None for a part that is no register, such as a constant."""
    parts = operand.items if type(operand) is Vector else (operand,)
    return [part.index if type(part) is Register else None for part in parts]


def moved(item) -> list[tuple[int, list[int | None], int]]:
    """(to, possible sources, bytes to add) for each register that a copying instruction writes."""
    to, sources = registers_of(item.operands[0]), [registers_of(operand) for operand in item.operands[1:]]
    if item.family == "mov":
        if len(to) > 1:  # a register is split into its halves
            return [(part, sources[0][:1], number * CELL) for number, part in enumerate(to) if part is not None]
        return [(to[0], sources[0][:1], 0)] if to[0] is not None else []
    if to[0] is None:
        return []
    values = [part for source in sources for part in source[:1]]
    if item.family == "cvt":  # cvt.rn.f16x2.f32 d, a, b: b becomes the lower half
        return [(to[0], values[-1:], 0)]
    return [(to[0], values[:2], 0)]


def followed_sites(program) -> frozenset[int]:
    """The copying instructions that may move a loaded value. They are found once, from the loads onwards."""
    known = {
        register
        for item in program.sites
        if item.family in LOADS and not {"param", "const", "local"} & set(item.parts)
        for register in registers_of(item.operands[0])
    }
    candidates = [item for item in program.sites if item.family in COPIES]
    found: set[int] = set()
    grown = True
    while grown:
        grown = False
        for item in candidates:
            if item.site in found:
                continue
            moves = [(to, of) for to, of, _ in moved(item) if known & {part for part in of if part is not None}]
            if moves:
                known.update(to for to, _ in moves)
                found.add(item.site)
                grown = True
    return frozenset(found)


class Origins:
    """For registers and for shared memory: the address of the value in global memory, counted from its beginning.

    `home` has an address for every 2 bytes of the shared memory of all resident blocks. `held` has, for a register, the
    address of the value of each lane. -1 stands for a value that was not loaded, or was changed by arithmetic.
    """

    def __init__(self, resident):
        self.resident = resident
        self.home = np.full(resident.blocks * resident.shared_stride // CELL + 16, UNKNOWN, np.int64)
        self.held: dict[int, np.ndarray] = {}
        self.rounded: set[int] = set()  # registers whose 2 bytes were 4 bytes in global memory

    # ---- Registers ----

    def of(self, register: int | None, rows: np.ndarray) -> np.ndarray:
        """The addresses of a register's values at some lane numbers."""
        held = self.held.get(register) if register is not None else None
        return np.full(len(rows), UNKNOWN, np.int64) if held is None else held[rows]

    def put(self, register: int | None, rows: np.ndarray, active: np.ndarray, addresses: np.ndarray) -> None:
        if register is None:
            return
        held = self.held.get(register)
        if held is None:
            held = self.held[register] = np.full(self.resident.lanes, UNKNOWN, np.int64)
        held[rows[active]] = addresses[active]

    def move(self, item, rows: np.ndarray, active: np.ndarray) -> None:
        for to, sources, offset in moved(item):
            value = np.full(len(rows), UNKNOWN, np.int64)
            for source in reversed(sources):
                other = self.of(source, rows)
                value = np.where(other >= 0, other, value)
                if source in self.rounded:
                    self.rounded.add(to)
            if item.family == "cvt" and item.parts[-1] == "f32" and HALVES & set(item.parts):
                self.rounded.add(to)
            scale = 2 if offset and to in self.rounded else 1
            self.put(to, rows, active, np.where(value >= 0, value + offset * scale, UNKNOWN))

    # ---- Loads ----

    def loaded(self, item, rows: np.ndarray, active: np.ndarray, addresses: np.ndarray, in_shared: bool) -> None:
        """A load of each lane. addresses: from the beginning of its memory; in shared memory over all blocks."""
        each = BYTES.get(item.parts[-1], 0)
        for number, register in enumerate(registers_of(item.operands[0])):
            at = addresses + number * each
            self.put(register, rows, active, self.at_home(np.where(active, at, 0)) if in_shared else at)

    def matrices_loaded(self, item, rows: np.ndarray, addresses: np.ndarray) -> None:
        """An ldmatrix: lane l gets two elements of row l ÷ 4, or of column l ÷ 4 with .trans."""
        table, lane = addresses.reshape(-1, 32), np.arange(32)
        everyone = np.ones(len(rows), bool)
        for number, register in enumerate(registers_of(item.operands[0])):
            if "trans" in item.parts:
                at = table[:, 8 * number + 2 * (lane % 4)] + CELL * (lane // 4)
            else:
                at = table[:, 8 * number + lane // 4] + 4 * (lane % 4)
            self.put(register, rows, everyone, self.at_home(at.reshape(-1)))

    def at_home(self, addresses: np.ndarray) -> np.ndarray:
        """What lies at some addresses of shared memory."""
        cells = addresses // CELL
        good = (cells >= 0) & (cells < len(self.home))
        return np.where(good, self.home[np.where(good, cells, 0)], UNKNOWN)

    # ---- Stores into shared memory ----

    def copied(self, to: np.ndarray, source: np.ndarray, width: int) -> None:
        """A copy of `width` bytes from each source address to each shared address; source -1 for zeros."""
        for cell in range(max(width // CELL, 1)):
            self.home[to // CELL + cell] = np.where(source >= 0, source + cell * CELL, UNKNOWN)

    def stored(self, item, rows: np.ndarray, active: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """A store from registers; returns the address in global memory of each lane's first value."""
        each, first = BYTES.get(item.parts[-1], 0), None
        for number, register in enumerate(registers_of(item.operands[1])):
            value = self.of(register, rows)
            first = value if first is None else first
            step = 2 * CELL if register in self.rounded else CELL
            for cell in range(max(each // CELL, 1)):
                at = (addresses[active] + number * each) // CELL + cell
                self.home[at] = np.where(value[active] >= 0, value[active] + cell * step, UNKNOWN)
        return np.full(len(rows), UNKNOWN, np.int64) if first is None else first

    def forget(self, addresses: np.ndarray, width: int) -> None:
        """Something else was stored, such as a result."""
        for cell in range(max(width // CELL, 1)):
            self.home[addresses // CELL + cell] = UNKNOWN
