"""After a fault or a hang, runs the kernel again with checks, and names the learner's line.

The GPU reports only that *some* thread failed. So the kernel's PTX is instrumented (`instrument.py`), assembled by the
driver, and run on the same inputs in a fresh worker. If this fails after a fault, `compute-sanitizer` is used where it
is installed.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from gpu_runner import settings
from gpu_runner.postmortem import instrument as checks
from gpu_runner.postmortem.source_lines import text_of
from gpu_runner.refusals import parameter_bytes
from gpu_runner.remote import RemoteSession
from gpu_runner.session import Session, Silence
from gpu_simulator.errors import SimulatorError

HANG_LIMIT_S, FAULT_LIMIT_S = 3.0, 5.0
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Finding:
    """What the second run found. If `line` is None, `detail` says why the line is not known.

    `thread` and `block` are (x, y, z); `address` is a byte address, `nearest` where it is relative to the closest
    array.
    """

    detail: str
    file: str | None = None
    line: int | None = None
    text: str | None = None
    thread: Triple | None = None
    block: Triple | None = None
    address: int | None = None
    nearest: str | None = None


def examine(
    compiled: Any,
    *,
    grid: Triple,
    args: Sequence[Any],
    cluster: Triple,
    hang: bool,
    names: Sequence[str] | None = None,
    session: Session | None = None,
) -> Finding:
    """Run `compiled` again with checks and return what was found; never raises a `SimulatorError`.

    `hang` says that the kernel hung, else it faulted. `names` are the names of the kernel's parameters, for the
    message. `session` is for tests.
    """
    own = session or (RemoteSession(settings.server(), fresh=True) if settings.server() else Session())
    limit = HANG_LIMIT_S if hang else FAULT_LIMIT_S
    try:
        marked = checks.instrument(compiled.ptx)
        raw = own.request(
            "autopsy",
            timeout_s=limit + 4.0,
            ptx=marked.ptx,
            variables=list(marked.variables),
            entry=compiled.entry,
            threads=compiled.threads,
            dynamic_smem=compiled.dynamic_smem,
            grid=tuple(grid),
            args=list(args),
            cluster=tuple(cluster),
            limit_s=limit,
        )
        return explain(raw, marked.sites, compiled, names)
    except (SimulatorError, Silence, ValueError, LookupError, TypeError) as error:  # also for PTX that cannot be read
        reason = str(error)
    finally:
        own.close()
    found = None if hang else sanitize(compiled, grid, args, cluster)
    return found or Finding(f"The line is unknown, because the kernel could not be run again with checks: {reason}")


def explain(
    raw: Mapping[str, Any], sites: Sequence[checks.Site], compiled: Any, names: Sequence[str] | None = None
) -> Finding:
    """Turn the raw report of `autopsy.examine` into a finding."""
    valid, number, address, kind, *who = raw["report"]
    if not valid:
        return _stuck(raw, sites, compiled)
    site = sites[number]
    file, line, text = _place(site, compiled)
    thread, block = tuple(who[:3]), tuple(who[3:6])
    nearest = None
    if kind == checks.TOO_LONG:
        return Finding("It was still looping here.", file, line, text, thread, block)
    access = f"This {site.what} of {site.size} bytes" if site.size else f"This {site.what}"
    if kind in (checks.MISALIGNED, checks.SHARED_MISALIGNED):
        space = "shared-memory address" if kind == checks.SHARED_MISALIGNED else "address"
        step = 16 if site.size >= 16 else site.size
        detail = f"{access} is at {space} 0x{address:x}, which is not a multiple of {max(step, site.size)}"
    elif kind == checks.SHARED_OUTSIDE:
        detail = (
            f"{access} is at shared-memory address {address:,}, past the end of the block's shared memory "
            f"({compiled.static_smem + compiled.dynamic_smem:,} bytes)"
        )
    else:
        nearest = describe_nearest(address, raw["arrays"], names)
        detail = f"{access} is outside every array: {nearest}"
    return Finding(detail + ".", file, line, text, thread, block, address, nearest)


def describe_nearest(address: int, arrays: Mapping[int, tuple[int, int]], names: Sequence[str] | None) -> str:
    """Where `address` is relative to the closest array, such as "24 bytes past the end of argument d, 4,096 bytes".

    `arrays` is {position in the arguments: (address, bytes)}.
    """
    if not arrays:
        return f"address 0x{address:x}; the kernel was given no array"

    def gap(item: tuple[int, tuple[int, int]]) -> int:
        start, size = item[1]
        return start - address if address < start else max(0, address - (start + size) + 1)

    position, (start, size) = min(arrays.items(), key=gap)
    name = f"argument {names[position]}" if names else f"argument {position + 1} of the kernel"
    if address < start:
        return f"{start - address:,} bytes before the start of {name}, {size:,} bytes"
    if address >= start + size:
        beyond = address - (start + size)
        return (
            f"{beyond:,} bytes past the end of {name}, {size:,} bytes"
            if beyond
            else f"right at the end of {name}, {size:,} bytes"
        )
    return f"it starts {start + size - address:,} bytes before the end of {name}, {size:,} bytes, and reaches past it"


def _stuck(raw: Mapping[str, Any], sites: Sequence[checks.Site], compiled: Any) -> Finding:
    waiting: dict[int, list[int]] = {}
    for warp, mark in enumerate(raw["waiting"][: max(1, -(-compiled.threads // 32))]):
        if mark:
            waiting.setdefault(mark - 1, []).append(warp)
    if not raw["finished"] and waiting:
        number = max(waiting, key=lambda site: len(waiting[site]))
        file, line, text = _place(sites[number], compiled)
        warps, total = waiting[number], -(-compiled.threads // 32)
        others = total - len(warps)
        missing = (
            "some threads of these warps have not come to it"
            if not others
            else "the other warp has not come to it"
            if others == 1
            else f"the other {others} warps have not come to it"
        )
        verb = "waits" if len(warps) == 1 else "wait"
        detail = f"In block (0, 0, 0), {_warps(warps)} {verb} at this barrier; {missing}."
        return Finding(detail, file, line, text, block=(0, 0, 0))
    if not raw["finished"]:
        return Finding("The line is unknown: no thread was looping, and no warp of block (0, 0, 0) was at a barrier.")
    if raw["fault"]:
        return Finding(
            f"The line is unknown: the second run failed too ({raw['fault']}), but at an instruction that "
            "the checks do not cover, such as a tensor-memory or matrix instruction, a trap or an assert."
        )
    return Finding(
        "The line is unknown: run again with checks, the kernel finished. It may depend on timing (a "
        "missing barrier), or on memory that another launch had left behind."
    )


_ASSERT = re.compile(
    r"([^\s/]+):(\d+): .*?block: \[(\d+),(\d+),(\d+)\], thread: \[(\d+),(\d+),(\d+)\] Assertion `(.*?)` failed"
)


def read_assert(printed: str, compiled: Any) -> Finding | None:
    """The finding in the message of a failed device-side assert; None if `printed` has no such message."""
    match = _ASSERT.search(printed)
    if not match:
        return None
    numbers = [int(group) for group in match.groups()[2:8]]
    text = text_of(match[1], int(match[2]), compiled.source, compiled.files)
    return Finding(
        f"The assertion `{match[9]}` failed.", match[1], int(match[2]), text, tuple(numbers[3:]), tuple(numbers[:3])
    )


def _warps(warps: Sequence[int]) -> str:
    if len(warps) == 1:
        return f"warp {warps[0]}"
    if list(warps) == list(range(warps[0], warps[-1] + 1)):
        return f"warps {warps[0]} to {warps[-1]}"
    return "warps " + ", ".join(map(str, warps))


def _place(site: checks.Site, compiled: Any) -> tuple[str | None, int | None, str | None]:
    """The learner's (file, line, text): the outermost frame, which is where an inlined wrapper was called."""
    if not site.frames:
        return None, None, site.instruction
    path, line = site.frames[-1]
    return PurePath(path).name, line, text_of(path, line, compiled.source, compiled.files) or site.instruction


# ---- compute-sanitizer ----

_INVALID = re.compile(
    r"Invalid __(\w+)__ (\w+) of size (\d+) bytes.*?(?:in|at) [^\n]*?([^\s/:]+\.cuh?|cell[^\s:]*):(\d+).*?"
    r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)(?:.*?(?:Address|Access at|Access to) "
    r"(0x[0-9a-f]+) is ([^\n]+))?",
    re.S,
)


def sanitize(compiled: Any, grid: Triple, args: Sequence[Any], cluster: Triple) -> Finding | None:
    """Run the kernel under `compute-sanitizer --tool memcheck` and read its first report.

    None if the tool is not installed, if a server is used, or if it reports no invalid access.
    """
    tool = shutil.which("compute-sanitizer")
    if tool is None or settings.server():
        return None
    session = Session(command=(tool, "--tool", "memcheck", "--print-limit", "1"))
    printed = ""
    try:
        session.request(
            "launch",
            timeout_s=20.0,
            compiled=payload(compiled),
            grid=tuple(grid),
            args=list(args),
            cluster=tuple(cluster),
            outputs=[],
        )
        time.sleep(0.5)
    except (SimulatorError, Silence) as error:
        printed = getattr(error, "output", "")
    finally:
        printed += session.output
        session.close()
    return read_sanitizer(printed, compiled)


def read_sanitizer(printed: str, compiled: Any) -> Finding | None:
    """The first invalid access in the text that compute-sanitizer printed; None if there is none."""
    match = _INVALID.search(printed)
    if not match:
        return None
    space, what, size, file, line = match.groups()[:5]
    numbers = [int(group) for group in match.groups()[5:11]]
    where = f": address {match[12]} is {match[13].strip()}" if match[12] else ""
    return Finding(
        f"This {what} of {size} bytes of {space} memory is invalid{where}.",
        file,
        int(line),
        text_of(file, int(line), compiled.source, compiled.files),
        tuple(numbers[:3]),
        tuple(numbers[3:]),
        int(match[12], 16) if match[12] else None,
    )


def payload(compiled: Any) -> dict[str, Any]:
    """The fields of a `Compiled` that the worker needs, and the sizes of the kernel's parameters in bytes."""
    facts = {
        name: getattr(compiled, name) for name in ("key", "name", "arch", "entry", "cubin", "threads", "dynamic_smem")
    }
    return facts | {"parameters": parameter_bytes(getattr(compiled, "ptx", ""), compiled.entry)}
