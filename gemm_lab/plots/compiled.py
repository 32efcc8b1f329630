"""Plots the resources of an SM that compiled kernels use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from gemm_lab.plots import rows as read
from gemm_lab.plots import style
from gpu_simulator.errors import LabError
from gpu_simulator.hardware.data_sheets import Gpu
from gpu_simulator.hardware.occupancy import occupancy


@style.drawn
def resources(compiled_list: Iterable[Any], gpu: Gpu) -> Figure:
    """Registers per thread, shared memory per block and blocks per SM: one row per kernel, one panel per resource.

    compiled_list: objects with `name`, `registers`, `smem` (bytes) and `threads`, such as `Compiled`.
    A dashed line is the limit of the GPU. A kernel that cannot be launched on it "does not fit". Raises `LabError` for
    an empty list.
    """
    compiled = list(compiled_list)
    if not compiled:
        raise LabError("There is nothing to plot: resources needs at least one compiled kernel.")
    panels = (
        ("registers\na thread", [k.registers for k in compiled], gpu.max_registers_per_thread),
        ("shared memory\na block, KB", [k.smem / 1024 for k in compiled], gpu.smem_per_block / 1024),
        ("blocks\nan SM", [_resident_blocks(kernel, gpu) for kernel in compiled], None),
    )
    step, head, foot = 0.36, 0.9, 0.75  # inches
    fig = style.figure(style.WIDTH, head + step * len(compiled) + foot)
    width, height = fig.get_size_inches()
    names = [read.short(kernel.name) for kernel in compiled]
    left = min(0.35 + 0.088 * max(map(len, names)), 2.6)
    panel = (width - left - 0.3) / 3
    for p, (title, values, limit) in enumerate(panels):
        ax = style.axes(fig, left=left + p * panel, right=width - left - (p + 1) * panel + 0.35, top=head, bottom=foot)
        _bars(ax, values, limit)
        ax.text(0, 1, title, transform=_raised(ax), va="bottom", fontweight="bold")
        ax.set_yticks(range(len(names)), names if p == 0 else [""] * len(names))
        ax.tick_params(axis="y", labelcolor=style.INK)
    style.caption(fig, f"compiled for the {gpu.name}", 0.35)
    return fig


def _bars(ax: Axes, values: Sequence[float], limit: float | None) -> None:
    """One bar per kernel with its number, and a line at the limit. Without a limit, 0 means that it does not fit."""
    bottom = len(values) - 0.5
    ax.set(ylim=(bottom, -0.5), xlim=(0, max(limit, *values) if limit else 1.25 * max(1, *values)))
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(length=0)
    ax.set_xticks([])
    ax.barh(range(len(values)), values, height=0.62, color=style.tint(style.SKY, 0.55), zorder=2)
    for row, value in enumerate(values):
        inside = value > 0.7 * ax.get_xlim()[1]
        place = {"xytext": (-5, 0), "ha": "right"} if inside else {"xytext": (5, 0), "ha": "left"}
        words = f"{value:.4g}" if value or limit else "does not fit"
        ax.annotate(words, (value, row), textcoords="offset points", va="center_baseline", zorder=5, **place)
    if limit:
        look = {"color": style.INK, "linewidth": 1.2, "linestyle": (0, (3, 2))}
        ax.axvline(limit, zorder=3, clip_on=False, **look)
        below = {"xytext": (0, -5), "textcoords": "offset points", "ha": "right", "va": "top"}
        ax.annotate(f"limit {limit:g}", (limit, bottom), color=style.INK, **below)


def _raised(ax: Axes):
    return ax.transAxes + ScaledTranslation(0, 8 / 72, ax.figure.dpi_scale_trans)


def _resident_blocks(kernel: Any, gpu: Gpu) -> int:
    try:
        return occupancy(gpu, kernel.threads, kernel.registers, kernel.smem).blocks
    except LabError:  # the kernel cannot be launched on this GPU
        return 0
