"""Puts neighbouring loads together: two or four of words that lie side by side become one load of a vector.

clang takes the copy of a struct such as float4 apart, and leaves it to the back end to put its parts together again.
"""

from __future__ import annotations

from dataclasses import replace

from llvm_ir_to_ptx.code import Line, Load

_SIZES = {"u32": 4, "f32": 4, "u64": 8, "f64": 8}
_MOST = 16  # bytes of one load


def with_wide_loads(lines: list[Line]) -> list[Line]:
    """The lines with loads put together where nothing between them can write memory.

    Every register must be set in one place only, but for those that `Code.move` sets. A vector is loaded where the
    first of its parts was.
    """
    merged: dict[int, Line] = {}
    gone: set[int] = set()
    groups: dict[tuple[str, str, str], dict[int, int]] = {}  # (base, space, type) -> offset -> number of the line

    def close() -> None:
        for (_, _, kind), numbers in groups.items():
            for run in _runs(lines, numbers, _SIZES[kind]):
                first = min(run)
                merged[first] = _vector([lines[number] for number in run], lines[first])
                gone.update(number for number in run if number != first)
        groups.clear()

    for number, line in enumerate(lines):
        load = line.load
        if load and load.kind in _SIZES:
            groups.setdefault((load.base, load.space, load.kind), {}).setdefault(load.offset, number)
        elif not line.only_registers:
            close()
    close()
    return [merged.get(number, line) for number, line in enumerate(lines) if number not in gone]


def _runs(lines: list[Line], numbers: dict[int, int], size: int) -> list[list[int]]:
    """The numbers of the lines of each vector, in the order of their addresses.

    numbers: of the loads from one base by their offsets.   size: of each in bytes.
    """
    found: list[list[int]] = []
    used: set[int] = set()
    for offset in sorted(numbers):
        for count in (4, 2):
            run = [numbers.get(offset + index * size, -1) for index in range(count)]
            load = lines[numbers[offset]].load
            whole = load is not None and load.align >= count * size <= _MOST
            if whole and -1 not in run and used.isdisjoint(run):
                found.append(run)
                used.update(run)
                break
    return found


def _vector(parts: list[Line], first: Line) -> Line:
    """One load in place of several, at the source line of the one that comes first."""
    load = parts[0].load or Load("", 0, "", "", 0)
    registers = [part.writes[0] for part in parts]
    place = f"[{load.base}{f'+{load.offset}' if load.offset else ''}]"
    space = f".{load.space}" if load.space else ""
    text = f"ld{space}.v{len(parts)}.{load.kind} {{{', '.join(registers)}}}, {place};"
    return replace(first, text=text, writes=tuple(registers), load=None)
