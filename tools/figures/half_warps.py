"""Where the two halves of a warp store in simt/04_register_tiles: the banks that both of them ask for."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.banks import BANKS

COLUMNS, PITCH = 16, 129  # of A's tile; floats in a row of smem_a


def stored_bank(lane: int) -> int:
    """The bank of the float that a lane of warp 0 stores in turn 0."""
    m, k = divmod(lane, COLUMNS)
    return (k * PITCH + m) % BANKS


def half_warps():
    """One strip of 32 banks for lanes 0 to 15, one for lanes 16 to 31; banks that are asked twice are coloured."""
    page = Sheet(2.85)
    left, top, w, h, step = 1.55, 1.25, 0.193, 0.36, 0.52
    asked = [stored_bank(lane) for lane in range(32)]
    page.text(
        0.3, 0.4, "One store of A's tile by warp 0: the banks of its lanes", ha="left", bold=True, size=style.BODY
    )
    for bank in (0, 8, 16, 24, 31):
        page.text(left + (bank + 0.5) * w, top - 0.2, str(bank), colour=style.MUTED)
    page.text(left - 0.15, top - 0.2, "bank", ha="right", colour=style.MUTED)
    for half in range(2):
        y = top + half * step
        lane_of = {asked[lane]: lane for lane in range(16 * half, 16 * half + 16)}

        def fill(i, j, lane_of=lane_of):
            if j not in lane_of:
                return style.PAPER
            return style.tint(style.CONFLICT, 0.7) if asked.count(j) > 1 else style.tint(style.SKY, 0.6)

        page.text(left - 0.15, y + h / 2, f"row m = {half}", ha="right", bold=True)
        page.grid(left, y, 1, BANKS, w, h, edge=style.UNLIT_EDGE, lw=0.6, fill=fill)
        lanes = sorted(lane_of.values())
        page.text(left + (asked[lanes[0]] + 8) * w, y + h / 2, f"lanes {lanes[0]} to {lanes[-1]}", bold=True)
    twice = sum(asked.count(bank) > 1 for bank in range(BANKS))
    idle = sum(bank not in asked for bank in range(BANKS))
    page.text(
        left,
        top + 2 * step + 0.15,
        f"{twice} banks are asked for two words, {idle} for none",
        ha="left",
        bold=True,
        colour=style.ink(style.CONFLICT),
    )
    return page.fig
