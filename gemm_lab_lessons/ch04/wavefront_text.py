"""The wavefront stepper as text, for a terminal."""

from __future__ import annotations

from gemm_lab_lessons.ch05.swizzle_text import passes

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
