"""Timelines as text, `results/timelines/<gpu>/<ladder>_<kernel>.csv`: conditions as `# name: value`, then the events.

The times are clocks since the first event. For the columns, see `pipeline_timeline.Event`. They were recorded once, by
a copy of each kernel that wrote the clock of its multiprocessor and the global timer wherever a warp waited, copied or
let go of a buffer; hardware units write no stamps, so a load lasts until a warp first saw its bytes. The commit in a
file has the program (`stamps.py`).
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

from gemm_results.errors import LabError
from gpu_timing.logical.pipeline_timeline import KINDS, Event, Timeline

COLUMNS = Event._fields


def load(path: str | Path) -> tuple[Timeline, dict[str, str]]:
    """The timeline and the conditions of a file. Raises `LabError`, with the line, if it cannot be read."""
    lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    conditions = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    body = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not body or tuple(body[0][1].split(",")) != COLUMNS:
        raise LabError(f"{Path(path).name} is no timeline: its columns must be {', '.join(COLUMNS)}.")
    events = []
    for number, line in body[1:]:
        try:
            agent, kind, stage, tile, start, end = next(csv.reader([line]))
            if kind not in KINDS:
                raise ValueError(f"there is no kind “{kind}”")
            if not 0 <= float(start) <= float(end) < math.inf:
                raise ValueError(f"no event begins at {start} and ends at {end}")
            events.append(
                Event(agent, kind, int(stage) if stage else None, int(tile) if tile else None, float(start), float(end))
            )
        except ValueError as error:
            raise LabError(f"{Path(path).name}, line {number}: {error}.") from None
    title = f"{conditions.get('kernel', '')} on {conditions.get('gpu', 'a GPU')}"
    return Timeline(
        tuple(events), conditions.get("unit", ""), int(conditions.get("stages", 0)), title, conditions.get("note", "")
    ), conditions
