"""The wavefront stepper as text, for a terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_LANES = 8


def explain(widget) -> str:
    """The source line, the access that is shown, its addresses and its wavefronts."""
    access, line, trace = widget.shown, widget.source_line, widget.trace
    count = access.schedule.count
    whole, ideal, _ = widget.whole
    out = [
        f"{widget.title}, warp {widget.warp}, line {line.number}: {line.text.strip()}",
        f"{access.opcode}, execution {widget.execution} of 0 to {len(trace) - 1}: {count} wavefronts, "
        f"ideal {access.ideal}. All executions of this warp: {whole:,}, ideal {ideal:,}.",
        "",
    ]
    lanes = [lane for lane in range(32) if access.active[lane]]
    for start in range(0, len(lanes), MOST_LANES):
        part = lanes[start : start + MOST_LANES]
        out.append("lane    " + "".join(f"{lane:>8}" for lane in part))
        out.append("address " + "".join(f"{int(access.addresses[lane]):>8}" for lane in part))
        out.append("bank    " + "".join(f"{int(access.addresses[lane]) // 4 % 32:>8}" for lane in part))
    return "\n".join([*out, "", *passes(access)])


def passes(access: Any) -> list[str]:
    """A line of text for each group of lanes that is served together: its wavefronts, and the lanes of each."""
    schedule, out = access.schedule, []
    for phase in dict.fromkeys(schedule.phase):
        numbers = [n for n, other in enumerate(schedule.phase) if other == phase]
        name = "source and shared line" if access.kind == "cp.async.cg" else "group"
        lanes = " | ".join(_runs(schedule.lanes(n)) for n in numbers)
        out.append(f"{name} {phase}: {len(numbers)} wavefront{'s' * (len(numbers) != 1)}, lanes {lanes}")
    return out


def _runs(lanes: np.ndarray) -> str:
    """The lanes as ranges, such as "0–7, 16"."""
    parts = np.split(lanes, np.flatnonzero(np.diff(lanes) != 1) + 1)
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)
