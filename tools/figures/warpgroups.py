"""Three warpgroups and a ring of stages: which warps arrive at which mbarrier, and the registers of each warpgroup."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

REGISTERS, THREADS = 65_536, 128  # of a multiprocessor; of a warpgroup
STARTS_WITH, PRODUCER, CONSUMER = 168, 24, 240
STAGES = (("tile 4", "read by both"), ("tile 5", "full"), ("tile 6", "on its way"), ("tile 3", "just freed"))
_FILLS = (style.tint(style.GREEN, 0.55), style.tint(style.BLUE, 0.45), style.tint(style.ORANGE, 0.5), style.PAPER)


def registers_of(each: tuple[int, ...]) -> int:
    """Registers of several warpgroups. each: registers per thread of each warpgroup."""
    return sum(each) * THREADS


def warpgroup_ring():
    """The producer on the left, the consumers on the right, the ring between them, and the registers of setmaxnreg."""
    page = Sheet(6.3)
    page.text(0.35, 0.36, "three warpgroups, four stages", ha="left", bold=True, size=style.BODY)
    page.labelled(
        0.35, 1.35, 1.55, 1.3, "producer\none thread\nasks TMA", fill=style.tint(style.ORANGE, 0.25), edge=style.ORANGE
    )
    for number, y in enumerate((0.95, 2.2)):
        page.labelled(
            6.1, y, 1.55, 0.85, f"consumer {number}\n64 rows of D", fill=style.tint(style.GREEN, 0.25), edge=style.GREEN
        )
    x, wide, high, top = 3.05, 1.9, 0.46, 0.92
    for stage, ((tile, words), fill) in enumerate(zip(STAGES, _FILLS, strict=True)):
        page.labelled(x, top + stage * (high + 0.08), wide, high, f"{tile}: {words}", fill=fill, edge=style.RULE)
        page.text(x - 0.1, top + stage * (high + 0.08) + high / 2, str(stage), ha="right", colour=style.MUTED)
    page.arrow(1.95, 1.75, 2.75, 1.75, colour=style.ORANGE, lw=2)
    page.arrow(5.0, 1.55, 6.05, 1.38, colour=style.GREEN, lw=2)
    page.arrow(5.0, 1.9, 6.05, 2.6, colour=style.GREEN, lw=2)
    rows = (
        (
            "full[stage]",
            "1 arrival and 49,152 bytes",
            "the producer announces them, TMA brings them; both consumers wait",
        ),
        ("empty[stage]", "8 arrivals", "one of each consumer warp, its products done; the producer waits"),
    )
    for number, (name, count, what) in enumerate(rows):
        y = 3.45 + 0.6 * number
        page.text(0.35, y, name, ha="left", mono=True)
        page.text(1.9, y, count, ha="left", bold=True)
        page.note(1.9, y + 0.26, what)
    page.line((0.35, 4.65), (page.width - 0.35, 4.65))
    page.text(0.35, 4.95, f"registers of a thread, {REGISTERS:,} in all", ha="left", bold=True)
    scale, left = (page.width - 2.3) / (REGISTERS / THREADS), 1.9
    for number, (name, each) in enumerate(
        (("at the start", (STARTS_WITH,) * 3), ("setmaxnreg", (PRODUCER, CONSUMER, CONSUMER)))
    ):
        y, at = 5.2 + 0.44 * number, left
        page.text(0.35, y + 0.17, name, ha="left", mono=number == 1)
        page.box(left, y, REGISTERS / THREADS * scale, 0.34, edge=style.RULE, radius=0)
        for count, colour in zip(each, (style.ORANGE, style.GREEN, style.GREEN), strict=True):
            page.cell(at, y, count * scale, 0.34, str(count), fill=style.tint(colour, 0.4))
            at += count * scale
    return page.fig
