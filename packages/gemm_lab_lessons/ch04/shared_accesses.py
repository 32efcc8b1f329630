"""The shared-memory accesses of one warp at one line of a compiled kernel, from the simulator's trace."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gemm_lab.cards.hot_lines import Line
from gemm_lab.lab import Run
from gemm_results.errors import LabError
from gpu_simulator.hardware.bank_schedule import Schedule, ideal_wavefronts, schedule

TOUCHES = "reads or writes shared memory by ld, st, ldmatrix, stmatrix or cp.async"


@dataclass(frozen=True)
class SharedAccess:
    """One execution of a shared-memory instruction by a warp.

    kind: as in `hardware.bank_schedule.schedule`.   width: bytes per lane.   addresses: byte addresses of the lanes, -1
    for an idle lane.   source: the global addresses of a cp.async.
    """

    opcode: str
    kind: str
    width: int
    addresses: np.ndarray = field(repr=False)
    source: np.ndarray | None = field(default=None, repr=False)

    @property
    def active(self) -> np.ndarray:
        return self.addresses >= 0

    @cached_property
    def schedule(self) -> Schedule:
        return schedule(self.kind, self.addresses, self.width, self.active, self.source)

    @property
    def ideal(self) -> int:
        return ideal_wavefronts(int(self.active.sum()), self.width)


def kind_of(opcode: str) -> str | None:
    """The kind of access as in `hardware.bank_schedule.schedule`; None if the opcode does not access shared memory."""
    parts = opcode.split(".")
    if parts[0] in ("ldmatrix", "stmatrix"):
        return "ldmatrix"
    if parts[:2] == ["cp", "async"]:
        return ".".join(parts[:3]) if parts[2] in ("ca", "cg") else None
    if parts[0] in ("ld", "st") and any(part.startswith("shared") for part in parts):
        return "load" if parts[0] == "ld" else "store"
    return None


def traced(run: Run, line: int, block: int = 0, warp: int = 0) -> list[SharedAccess]:
    """All shared-memory accesses of a line by one warp, in the order of execution."""
    items, found = iter(run.trace(line, block, warp)), []
    for item in items:
        kind = kind_of(item.opcode)
        if kind is None:
            continue
        addresses, source = np.asarray(item.addresses), None
        if kind.startswith("cp.async"):
            source = np.asarray(next(items).addresses)  # the trace has the source as the next item
        if kind == "ldmatrix":
            rows = 8 * int(re.search(r"\.x([124])", item.opcode)[1])
            addresses = np.where(np.arange(32) < rows, addresses, -1)
        found.append(SharedAccess(item.opcode, kind, item.width, addresses, source))
    return found


def totals(accesses: list[SharedAccess]) -> tuple[int, int]:
    """(wavefronts, ideal wavefronts) of all accesses together.

    Patterns that differ by a multiple of 128 bytes have the same count, which is computed only once.
    """
    counted: dict[tuple, int] = {}
    wavefronts = ideal = 0
    for access in accesses:
        ideal += access.ideal
        if access.source is not None:
            wavefronts += access.schedule.count
            continue
        first = int(access.addresses[access.active].min()) // 128 * 128
        key = access.kind, access.width, np.where(access.active, access.addresses - first, -1).tobytes()
        if key not in counted:
            counted[key] = access.schedule.count
        wavefronts += counted[key]
    return wavefronts, ideal


def shared_lines(run: Run) -> list[Line]:
    """The lines of the learner's text that access shared memory, in order, with the costs of all warps.

    Lines with wmma loads and stores are left out, because ptxas turns these into other instructions. Raises `LabError`
    if no line is left.
    """
    file, hot = "cell" if run.kernel.edited else run.kernel.spec.file, run.hot_lines()
    followed = {site.outermost[1] for site in hot.report.sites if kind_of(site.opcode)}
    found = [line for line in hot.lines if line.wavefronts and line.file == file and line.number in followed]
    if not found:
        raise LabError(f"No line of {run.kernel.label} {TOUCHES}; choose a kernel that has tiles there.")
    return found


def line_at(run: Run, lines: list[Line], where: int | str | None) -> Line:
    """The line that `where` selects: by its number, or as the worst line of a region; None selects the worst of all.

    The worst line has the highest conflict degree. Raises `LabError` if there is no such line or region.
    """
    chosen = lines
    if isinstance(where, str):
        regions = run.kernel.spec.regions
        if where not in regions:
            raise LabError(f"{run.kernel.label} has no region “{where}”; it has {', '.join(regions)}.")
        edit = run.kernel.edits.get(where)
        first, text = (edit.first_line, edit.text) if edit else (regions[where].first_line, regions[where].text)
        chosen = [line for line in lines if first <= line.number <= first + text.count("\n")]
        if not chosen:
            raise LabError(f"Nothing in the region “{where}” {TOUCHES}; {_listed(lines)}.")
    elif where is not None:
        chosen = [line for line in lines if line.number == where]
        if not chosen:
            raise LabError(f"Nothing in line {where} {TOUCHES}; {_listed(lines)}.")
    return max(chosen, key=lambda line: (line.degree, line.wavefronts))


def _listed(lines: list[Line]) -> str:
    numbers = ", ".join(str(line.number) for line in lines)
    return f"line {numbers} does" if len(lines) == 1 else f"lines {numbers} do"
