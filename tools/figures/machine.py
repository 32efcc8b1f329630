"""The T4's memories, with their capacities and bandwidths."""

from __future__ import annotations

import math

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware import data_sheets as hardware


def memory_hierarchy():
    """The T4's memories: one bar per level, whose length is its bandwidth on a log scale."""
    t4 = hardware.gpu("t4")
    mib = t4.sms * t4.smem_per_sm / 2**20
    registers_mib = t4.sms * t4.registers_per_sm * 4 / 2**20
    levels = (
        ("registers", f"{registers_mib:g} MB", f"{t4.registers_per_sm * 4 // 1024} KB on each SM", None),
        ("shared memory", f"{mib:g} MB", f"{t4.smem_per_sm // 1024} KB on each SM", t4.smem_measured_gbps),
        ("L2", f"{t4.l2_mb:g} MB", "one for all SMs", t4.l2_measured_gbps),
        ("DRAM", f"{t4.dram_gb:g} GB", "one for all SMs", t4.dram_measured_gbps),
    )
    page = Sheet(4.35)
    x0, x1, low, high = 2.75, 7.3, 100, 10_000

    def position(gbps):
        return x0 + (x1 - x0) * math.log(gbps / low) / math.log(high / low)

    bar, step, top = 0.56, 0.76, 0.62
    bottom = top + 3 * step + bar + 0.16
    page.note(0.4, 0.32, "capacity")
    page.note(x0, 0.32, "bandwidth")
    for tick in (100, 200, 500, 1000, 2000, 5000, 10_000):
        page.line((position(tick), bottom), (position(tick), bottom + 0.06))
        page.text(position(tick), bottom + 0.2, f"{tick:,}", colour=style.MUTED)
    page.line((x0, bottom), (x1, bottom))
    page.text(x1, bottom + 0.46, "GB/s, log scale (Tesla T4)", colour=style.MUTED, ha="right")
    for row, (name, capacity, where, gbps) in enumerate(levels):
        y, colour = top + row * step, style.MEMORY[name]
        page.text(0.4, y + 0.17, capacity, size=style.LARGE, bold=True, ha="left")
        page.note(0.4, y + 0.43, where)
        if gbps is None:
            tip = x1 + 0.25
            page.shade((x0, y), (x1, y), (tip, y + bar / 2), (x1, y + bar), (x0, y + bar), colour=colour, alpha=1, z=2)
            page.text(x0 + 0.14, y + bar / 2, name, bold=True, ha="left", size=style.BODY)
            page.text(x1 - 0.05, y + bar / 2, "feed the arithmetic directly", ha="right")
            continue
        end = position(gbps)
        page.box(x0, y, end - x0, bar, fill=colour, edge=colour, radius=0)
        page.text(x0 + 0.14, y + bar / 2, name, bold=True, ha="left", size=style.BODY, colour=style.text_on(colour))
        page.text(end + 0.1, y + bar / 2, f"{gbps:,}", ha="left", size=style.BODY, bold=True)
    return page.fig
