"""Timelines as text, `results/timelines/<gpu>/<ladder>_<kernel>.csv`: conditions as `# name: value`, then the events.

The times are clocks since the first event. For the columns, see `model.pipeline_timeline.Event`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path

from gemm_results.errors import LabError
from gpu_timing.logical.pipeline_timeline import KINDS, Event, Timeline

COLUMNS = Event._fields
NEEDED = ("kernel", "gpu", "driver", "cuda", "commit", "date", "m", "n", "k", "blocks", "block")


def write(path: str | Path, timeline: Timeline, conditions: Mapping[str, object]) -> Path:
    """Write a timeline with the conditions of its launch and return the path.

    Raises `LabError` if one of the conditions in `NEEDED` is missing.
    """
    missing = [name for name in NEEDED if name not in conditions]
    if missing:
        raise LabError(f"A recorded timeline needs the conditions of its launch; {', '.join(missing)} is missing.")
    text = io.StringIO()
    for name, value in {**conditions, "unit": timeline.unit, "stages": timeline.stages, "note": timeline.note}.items():
        text.write(f"# {name}: {str(value).replace(chr(10), ' ')}\n")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for event in timeline.events:
        rows.writerow(
            [
                event.agent,
                event.kind,
                "" if event.stage is None else event.stage,
                "" if event.tile is None else event.tile,
                f"{event.start:.0f}",
                f"{event.end:.0f}",
            ]
        )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


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
