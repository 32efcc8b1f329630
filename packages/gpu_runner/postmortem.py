"""After a fault or a hang on the GPU, runs the same launch on the simulator, which names the learner's line.

The GPU reports only that *some* thread failed. The simulator checks every access, and says of a kernel that cannot
continue who waits for what.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import gpu_simulator
from gpu_simulator.errors import SimulatorError
from gpu_simulator.faults import BudgetExceeded, LaunchError, UnsupportedInstruction

LIMIT_S = 20.0  # of processor time
_DIRECTIVE = re.compile(r'^\s*#\s*(?:line\s+)?(\d+)(?:\s+"([^"]*)")?\s*$')
_PLACE = re.compile(r"(?<!\S)([^\s:]+):(\d+)(?=[,;.:\s])")
_ASSERT = re.compile(r"([^\s/]+):(\d+): .*?(block: \[[\d,]+\], thread: \[[\d,]+\]) Assertion `(.*?)` failed")
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Finding:
    """What was found. `detail` is a sentence that names file and line, or says why the line is not known.

    `text` is the text of that line.
    """

    detail: str
    file: str | None = None
    line: int | None = None
    text: str | None = None


def examine(compiled: Any, *, grid: Triple, args: Sequence[Any], cluster: Triple, hang: bool) -> Finding:
    """Simulate a launch that failed on the GPU and return what was found; never raises a `SimulatorError`.

    `hang` says that the kernel hung, else it faulted. `args` stay as they are.
    """
    try:
        gpu_simulator.launch(
            compiled, compiled.entry, grid, compiled.threads, copy.deepcopy(list(args)), cluster=cluster,
            max_seconds=LIMIT_S,
        )  # fmt: skip
    except (LaunchError, UnsupportedInstruction) as error:
        return Finding(f"The line is unknown, because the simulator cannot run this launch: {error}")
    except BudgetExceeded as error:
        if hang:
            return _found(str(error), compiled)
        return Finding(
            f"The line is unknown: in {LIMIT_S:.0f} s the simulator did not come to the fault; a smaller size may."
        )
    except SimulatorError as error:
        return _found(str(error), compiled)
    return Finding(
        "The line is unknown: on the simulator this launch ends as it should. So the failure may depend on timing (a "
        'missing barrier: run(…, backend="simulator") looks for hazards), or on memory that another launch had left '
        "behind."
    )


def read_assert(printed: str, compiled: Any) -> Finding | None:
    """The finding in the message of a failed device-side assert; None if `printed` has no such message."""
    match = _ASSERT.search(printed)
    return match and _found(f"The assertion `{match[4]}` failed at {match[1]}:{match[2]}, {match[3]}.", compiled)


def _found(detail: str, compiled: Any) -> Finding:
    place = _PLACE.search(detail)
    if place is None:
        return Finding(detail)
    file, line = place[1], int(place[2])
    return Finding(detail, file, line, text_of(file, line, compiled.source, compiled.files))


def numbered(source: str, file: str) -> Iterator[tuple[str, int, str]]:
    """(file, line, text) for every line of `source`, counted as the compiler does; a `#line` names another file."""
    line = 1
    for text in source.splitlines():
        match = _DIRECTIVE.match(text)
        if match:
            line, file = int(match[1]), match[2] or file
            continue
        yield file, line, text
        line += 1


def text_of(file: str, line: int, source: str, files: Mapping[str, str]) -> str | None:
    """The text of `file`:`line`, searched in the kernel's source and then in its headers; None if it is not found."""
    base = PurePath(file).name
    for name, text in ((None, source), *files.items()):
        for where, number, content in numbered(text, name if name is not None else base):
            if number == line and PurePath(where).name == base:
                return content
    return None
