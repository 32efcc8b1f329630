"""The roofline model: the idea, the T4's rooflines, and the highest intensities that algorithms allow."""

from __future__ import annotations

from matplotlib.ticker import FixedLocator

from gemm_look import style
from gemm_results import plots
from gemm_results import roofline_model as model
from gpu_simulator.hardware import data_sheets as hardware


def roofline_idea():
    """The bound of a machine, without numbers: a slope, a ceiling and the balance point between them."""
    fig = style.figure(style.WIDTH, 4.2)
    ax = style.axes(fig, left=0.95, right=0.4, top=0.65, bottom=0.75)
    balance, tau, right = 4.0, 4.0, 9.0
    ax.set(xlim=(0, right), ylim=(0, 5.2))
    ax.fill_between([0, balance], [0, tau], color=style.tint(style.MEMORY["DRAM"], 0.13), linewidth=0)
    ax.fill_between([balance, right], [tau, tau], color=style.tint(style.GREEN, 0.13), linewidth=0)
    ax.plot([0, balance], [0, tau], color=style.MEMORY["DRAM"], linewidth=3)
    ax.plot([balance, right], [tau, tau], color=style.GREEN, linewidth=3)
    ax.plot([balance, balance], [0, tau], color=style.INK, linewidth=1, linestyle=(0, (3, 3)))
    ax.plot(balance, tau, marker="o", markersize=9, color=style.INK)
    ax.annotate(
        "balance point",
        (balance, tau),
        xytext=(0, 10),
        textcoords="offset points",
        ha="center",
        fontsize=style.BODY,
        fontweight="bold",
    )
    words = {"fontsize": style.BODY, "ha": "center", "va": "center"}
    ax.text(2.75, 0.75, "memory bound", color=style.MEMORY["DRAM"], **words)
    ax.text(6.5, 2.0, "compute bound", color=style.ink(style.GREEN, on=style.tint(style.GREEN, 0.13)), **words)
    ax.text(1.15, 2.35, "bandwidth", color=style.MEMORY["DRAM"], **words | {"fontweight": "bold"})
    ax.text(7.4, 4.3, "peak", color=style.ink(style.GREEN), **words | {"fontweight": "bold"})
    ax.xaxis.set_major_locator(FixedLocator([balance]))
    ax.yaxis.set_major_locator(FixedLocator([tau]))
    ax.set_xticklabels(["?"])
    ax.set_yticklabels(["peak"])
    ax.tick_params(labelsize=style.LARGE, labelcolor=style.INK)
    style.axis_titles(ax, "intensity, FLOP/byte", "at most, FLOP/s")
    return fig


def t4_roofline_units():
    """One memory, two arithmetic units: the faster unit needs eight times the intensity."""
    dram = hardware.gpu("t4").dram_measured_gbps
    ceilings = {"ordinary cores": model.ORDINARY_PEAK_T4, "tensor cores": model.PEAK_T4}
    return plots.roofline({"DRAM": dram}, log=False, ceilings=ceilings)


def t4_roofline_memories():
    """One arithmetic unit, three memories: the nearer the memory, the less reuse is needed."""
    t4 = model.roofline(hardware.gpu("t4"))
    levels = {level.name: level.gbps for level in t4.levels}
    return plots.roofline(levels, ceilings={"tensor cores": model.PEAK_T4}, height=4.6)


def multiplication_vs_addition():
    """The most FLOP/byte for N x N FP16 matrices: 2N³ over 3N² elements of 2 bytes, and N² over the same."""
    n = (16, 16384)
    fig = style.figure(style.WIDTH, 4.3)
    ax = style.axes(fig, left=0.85, right=1.55, top=0.6, bottom=0.75)
    ax.set(xscale="log", yscale="log", xlim=(n[0], n[1]), ylim=(0.05, 10_000))
    balance = model.balance(model.PEAK_T4, hardware.gpu("t4").dram_measured_gbps)
    ax.axhline(balance, color=style.MEMORY["DRAM"], linewidth=1.0, linestyle=(0, (3, 3)))
    ax.plot(n, [model.multiplication_intensity(size) for size in n], color=style.GREEN, linewidth=3)
    ax.plot(n, [model.addition_intensity()] * 2, color=style.MUTED, linewidth=3)
    crossing = 3 * balance
    ax.plot([crossing, crossing], [0.05, balance], color=style.RULE, linewidth=1.0, linestyle=(0, (3, 3)))
    ax.plot(crossing, balance, marker="o", markersize=8, color=style.INK, zorder=5)
    ax.annotate(
        f"n = {crossing:.0f}",
        (crossing, balance),
        xytext=(9, -7),
        textcoords="offset points",
        va="top",
        fontweight="bold",
    )
    for y, words, colour in (
        (model.multiplication_intensity(n[1]), "multiply", style.GREEN),
        (model.addition_intensity(), "add", style.MUTED),
        (balance, f"T4 balance\n{balance:.1f} (DRAM)", style.MEMORY["DRAM"]),
    ):
        ax.annotate(
            words,
            (n[1], y),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=style.ink(colour),
            fontweight="bold",
        )
    for axis, ticks in ((ax.xaxis, (16, 64, 256, 1024, 4096, 16384)), (ax.yaxis, (0.1, 1, 10, 100, 1000, 10_000))):
        style.plain_ticks(axis, ticks)
    style.axis_titles(ax, "n, rows and columns of each FP16 matrix", "at most FLOP/byte")
    return fig
