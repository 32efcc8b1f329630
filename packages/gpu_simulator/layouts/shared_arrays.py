"""`SharedArray`: one array in shared memory, with what its declaration says, and what may not be moved in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from gpu_simulator.codegen.program import Program
from gpu_simulator.layouts.recorded_accesses import WMMA, RecordedAccesses, SharedAccess
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.shared_declarations import Declaration, declarations


@dataclass(frozen=True)
class SharedArray:
    """An array of shared memory: the bytes `start` … `start + size - 1` of a block.

    element_bytes: of its type.   extents: as declared, () for one whose declaration was not found; values: as numbers.
    dynamic: a part of the `extern __shared__` memory, `offset` bytes behind its beginning.
    kept: why its layout cannot be changed by an index, in words; "" if it can.
    """

    name: str
    start: int
    size: int
    type: str = ""
    element_bytes: int = 1
    extents: tuple[str, ...] = ()
    values: tuple[int, ...] = ()
    dynamic: bool = False
    offset: int = 0
    kept: str = ""

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.start + self.size

    @property
    def title(self) -> str:
        """Its name; of a part of dynamic memory with its bytes."""
        if not self.dynamic:
            return self.name
        return f"{self.name}, bytes {self.offset:,} to {self.offset + self.size - 1:,}"

    @property
    def row_bytes(self) -> int | None:
        """Bytes of a row, if it was declared with two extents or more."""
        return self.values[-1] * self.element_bytes if len(self.values) > 1 else None


def shared_arrays(
    program: Program,
    smem_bytes: int,
    recorded: RecordedAccesses,
    source: str,
    defines: Mapping[str, object] | None = None,
) -> list[SharedArray]:
    """The shared arrays that a launch accessed, in the order of their addresses.

    Dynamic shared memory is divided where no instruction's addresses cross.   smem_bytes: shared memory of a block.
    source: the text that may declare the arrays.
    """
    accesses, known = list(recorded.shared()), declarations(source, defines)
    found, dynamic_names = [], []
    for variable in program.named_variables:
        name = source_name(variable.name)
        if variable.size == 0:
            dynamic_names.append(name)
        else:
            start = program.address(variable)
            found.append(_declared(name, start, variable.size, [one for one in known if one.name == name], accesses))
    if dynamic_names:
        begin, name = program.dynamic_offset, dynamic_names[0]
        kinds = [one for one in known if one.name in dynamic_names and one.element_bytes]
        for low, high in _parts(accesses, recorded.fixed, begin, smem_bytes):
            narrowest = _narrowest(accesses, low, high)
            kind = kinds[0] if kinds and kinds[0].element_bytes <= max(narrowest, 1) else None
            element = kind.element_bytes if kind else narrowest
            found.append(
                SharedArray(
                    name,
                    low,
                    high - low,
                    kind.type if kind else "",
                    element,
                    dynamic=True,
                    offset=low - begin,
                )
            )
    touched = [array for array in found if any(_touches(access, array.start, array.end) for access in accesses)]
    return sorted((_kept(array, recorded) for array in touched), key=lambda array: array.start)


def _declared(
    name: str, start: int, size: int, known: list[Declaration], accesses: Iterable[SharedAccess]
) -> SharedArray:
    for one in known:
        if not one.element_bytes or size % one.element_bytes:
            continue
        values, count = list(one.values), size // one.element_bytes
        if values.count(None) == 1 and (others := prod(value for value in values if value)) and count % others == 0:
            values[values.index(None)] = count // others  # the one extent that the text does not give
        if None not in values and prod(values) == count:
            return SharedArray(name, start, size, one.type, one.element_bytes, one.extents, tuple(values))
    return SharedArray(name, start, size, element_bytes=_narrowest(accesses, start, start + size))


def _spans(accesses: Iterable[SharedAccess], low: int, high: int) -> list[tuple[int, int]]:
    """(first byte, end) of what each access uses between two addresses."""
    spans = []
    for access in accesses:
        inside = access.rows[(access.rows >= low) & (access.rows < high)]
        if inside.size:
            spans.append((int(inside.min()), int(inside.max()) + access.width))
    return sorted(spans)


def _parts(
    accesses: Iterable[SharedAccess], fixed: Iterable[tuple[int, int, str]], low: int, high: int
) -> list[tuple[int, int]]:
    """The spans of the accesses and of what is fixed, joined where they overlap."""
    parts: list[tuple[int, int]] = []
    others = [(begin, end) for begin, end, _ in fixed if low <= begin < high]
    for begin, end in sorted([*_spans(accesses, low, high), *others]):
        if parts and begin < parts[-1][1]:
            parts[-1] = parts[-1][0], max(end, parts[-1][1])
        else:
            parts.append((begin, end))
    return parts


def _touches(access: SharedAccess, low: int, high: int) -> bool:
    return bool(((access.rows >= low) & (access.rows < high)).any())


def _narrowest(accesses: Iterable[SharedAccess], low: int, high: int) -> int:
    return min((access.width for access in accesses if _touches(access, low, high)), default=1)


def _kept(array: SharedArray, recorded: RecordedAccesses) -> SharedArray:
    users = sorted({why for low, high, why in recorded.fixed if low < array.end and high > array.start})
    if not users:
        return array
    why = f"{' and '.join(users)} address it by a layout of their own, so an index in your code cannot change it"
    if users == [WMMA]:
        why = "wmma addresses it by a pointer and one stride, which is not tried here; longer rows are what it allows"
    return SharedArray(**{**vars(array), "kept": why})
