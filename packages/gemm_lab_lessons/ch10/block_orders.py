"""A widget for the order of the output tiles: which tiles run at the same time, and how many reads L2 then saves.

from gemm_lab.notebook.widgets import block_order
block_order(4096, 4096, 4096, block=(128, 128), gpu="h100", order="grouped", group_m=8)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemm_lab.source_text import plural
from gemm_lab_lessons.ch10 import block_order as model
from gemm_lab_lessons.shared.choices import Choices, gpu_menu, slider
from gemm_look import style
from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SizeError
from gpu_simulator.hardware.data_sheets import Gpu, gpu

SIZES, TILES, GROUPS = (1024, 2048, 4096, 8192), (64, 128, 256), (1, 2, 4, 8, 16, 32)
ELEMENT_BYTES = 2  # FP16


@dataclass(frozen=True)
class OrderFacts:
    """The results for one choice. size: (m, n, k).   block: (BLOCK_M, BLOCK_N).   wave: the number of the wave shown.

    visited: the tiles in the chosen order, from `model.block_order`.   waves: the waves of this order.
    """

    gpu: Gpu
    size: tuple[int, int, int]
    block: tuple[int, int]
    order: str
    group_m: int
    wave: int
    visited: np.ndarray
    waves: list[model.Wave]
    dram: dict[str, int]  # order -> the distinct bytes that each wave reads, summed over its waves

    @property
    def tiles(self) -> tuple[int, int]:
        return self.size[0] // self.block[0], self.size[1] // self.block[1]

    @property
    def read(self) -> int:
        """The bytes that all blocks read through L2."""
        return sum(wave.read_bytes for wave in self.waves)

    @property
    def text(self) -> str:
        wave, name = self.waves[self.wave], self.order
        name = f"grouped by {self.group_m} rows" if name == "grouped" else f"{name} by {name}"
        return (
            f"Order: {name}. {self.gpu.name}: {self.gpu.sms} blocks at once, {plural(len(self.waves), 'wave')}. Wave "
            f"{self.wave} computes {plural(wave.blocks, 'tile')} from {plural(wave.rows, 'row')} of A and "
            f"{plural(wave.columns, 'column')} of B: {_mb(wave.distinct_bytes)} different of {_mb(wave.read_bytes)} "
            f"read, so L2 can serve {wave.hit_rate:.0%}. Whole launch: {_mb(self.dram[self.order])} from DRAM at "
            "least, if each wave reads a panel once and keeps nothing for the next."
        )


def _mb(number: int) -> str:
    return f"{number / 1e6:,.0f} MB"


def order_facts(
    m: int, n: int, k: int, block: tuple[int, int], gpu_key: str, order: str, group_m: int = 8, wave: int = 0
) -> OrderFacts:
    """The results for an order, with one block at a time on each SM.

    Raises `SizeError` if the tiles do not divide m × n or if there is no such wave.
    """
    target = gpu(gpu_key)
    if min(m, n, k, *block) < 1 or m % block[0] or n % block[1]:
        raise SizeError(f"Tiles of {block[0]} × {block[1]} do not divide {m} × {n}; use multiples of them.")
    tiles = m // block[0], n // block[1]
    every = {
        name: model.waves(model.block_order(name, *tiles, group_m), target.sms, block, k, ELEMENT_BYTES)
        for name in model.ORDERS
    }
    visited = model.block_order(order, *tiles, group_m)
    found = every[order]
    if not 0 <= wave < len(found):
        raise SizeError(f"There are {len(found)} waves, counted from 0; there is no wave {wave}.")
    dram = {name: sum(one.distinct_bytes for one in parts) for name, parts in every.items()}
    return OrderFacts(target, (m, n, k), tuple(block), order, group_m, wave, visited, found, dram)


class BlockOrder(Choices):
    """The widget that `block_order` creates. `facts` describes the current choice."""

    what = "The order of the output tiles: which of them run at the same time, and how many reads L2 then saves."

    def __init__(self, *choice, **named):
        self.facts = order_facts(*choice, **named)

    def choose(
        self, size: int, block_m: int, block_n: int, gpu: str, order: str, group_m: int, wave: int
    ) -> OrderFacts:
        """Show another choice. If it has fewer waves than `wave`, its last wave is shown."""
        block = (block_m, block_n)
        last = order_facts(size, size, size, block, gpu, order, group_m)
        self.facts = order_facts(size, size, size, block, gpu, order, group_m, min(wave, len(last.waves) - 1))
        return self.facts

    @property
    def text(self) -> str:
        return self.facts.text

    def controls(self) -> list[list]:
        import ipywidgets as widgets

        f = self.facts
        orders = widgets.ToggleButtons(
            options=model.ORDERS, value=f.order, description="order", style={"button_width": "auto"}
        )
        wave = widgets.IntSlider(value=f.wave, min=0, max=max(len(f.waves) - 1, 31), description="wave")
        return [
            [("order", orders), ("group_m", slider(GROUPS, f.group_m, "GROUP_M")), ("wave", wave)],
            [("size", slider(SIZES, f.size[0], "M = N = K")), ("gpu", gpu_menu(f.gpu.key))],
            [("block_m", slider(TILES, f.block[0], "BLOCK_M")), ("block_n", slider(TILES, f.block[1], "BLOCK_N"))],
        ]

    def card(self):
        return picture(self.facts)


@style.drawn
def picture(facts: OrderFacts):
    """Draw the tiles with one wave highlighted, the panels of A and B that it reads, and a bar for each order."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    fig, (tiles_m, tiles_n) = style.figure(8, 4.3), facts.tiles
    wave = facts.waves[facts.wave]
    now = facts.visited[wave.first : wave.first + wave.blocks]
    shade = np.empty((tiles_m, tiles_n, 3))
    shade[:] = to_rgb("#EEF1F4")
    done, here = facts.visited[: wave.first], to_rgb(style.tint(style.D, 0.75))
    shade[done[:, 0], done[:, 1]] = to_rgb(style.tint(style.D, 0.22))
    shade[now[:, 0], now[:, 1]] = here
    side, x = 2.9, 0.85
    scale = side / max(tiles_m, tiles_n)
    width, height = tiles_n * scale, tiles_m * scale
    bottom = 4.3 - 0.95 - height
    grid = fig.add_axes((x / 8, bottom / 4.3, width / 8, height / 4.3))
    grid.imshow(shade, aspect="auto", interpolation="nearest")
    grid.set(xticks=[], yticks=[])
    for spine in grid.spines.values():
        spine.set(color=style.RULE, linewidth=0.8)
    if max(facts.tiles) <= 40:
        grid.hlines(np.arange(0.5, tiles_m - 1), -0.5, tiles_n - 0.5, color="white", lw=0.5)
        grid.vlines(np.arange(0.5, tiles_n - 1), -0.5, tiles_m - 0.5, color="white", lw=0.5)
    if len(now) > 1:
        grid.plot(now[:, 1], now[:, 0], color=style.INK, lw=0.8, alpha=0.55, solid_joinstyle="round")
    grid.plot(*now[0][::-1], "o", color=style.INK, ms=4)
    for panel, rect, colour in (
        (0, (x - 0.3, bottom, 0.22, height), style.A),
        (1, (x, bottom + height + 0.08, width, 0.22), style.B),
    ):
        ax = fig.add_axes((rect[0] / 8, rect[1] / 4.3, rect[2] / 8, rect[3] / 4.3))
        ax.set_axis_off()
        ax.set(xlim=(0, 1 if panel == 0 else tiles_n), ylim=(tiles_m, 0) if panel == 0 else (0, 1))
        touched = set(now[:, panel].tolist())
        for index in range(facts.tiles[panel]):
            box = (0, index, 1, 1) if panel == 0 else (index, 0, 1, 1)
            fill = colour if index in touched else style.tint(colour, 0.15)
            ax.add_patch(Rectangle(box[:2], *box[2:], edgecolor="white", linewidth=0.4, facecolor=fill))
    head = f"wave {facts.wave}: tiles of D {wave.blocks}, columns of B {wave.columns}"
    _write(fig, x, 4.3 - 0.42, head, fontweight="bold")
    turned = {"rotation": 90, "va": "center", "ha": "center"}
    _write(fig, 0.3, bottom + height / 2, f"rows of A: {wave.rows}", color=style.ink(style.A), **turned)
    _bars(fig, facts)
    return fig


def _write(fig, x: float, y: float, words: str, **look) -> None:
    """Write words at a place in inches."""
    fig.text(x, y, words, transform=fig.dpi_scale_trans, fontsize=style.SMALL, **look)


def _bars(fig, facts: OrderFacts) -> None:
    ax = fig.add_axes((4.95 / 8, 1.0 / 4.3, 2.55 / 8, 2.35 / 4.3))
    style.apply(ax)
    values = [facts.dram[name] / 1e6 for name in model.ORDERS]
    for place, (name, value) in enumerate(zip(model.ORDERS, values, strict=True)):
        lit = name == facts.order
        ax.barh(place, value, height=0.55, color=style.D if lit else style.UNLIT, edgecolor=style.UNLIT_EDGE, lw=0.6)
        label = f"{name} ({facts.group_m})" if name == "grouped" else name
        weight, ink = ("bold", style.INK) if lit else ("normal", style.MUTED)
        look = {"fontsize": style.SMALL, "fontweight": weight, "color": ink}
        ax.text(0, place - 0.42, f"{label}: {value:,.0f} MB", va="bottom", **look)
    ax.set(xticks=[], yticks=[], ylim=(len(values) - 0.4, -0.75), xlim=(0, max(values) * 1.05))
    for side in ("bottom", "left"):
        ax.spines[side].set_visible(False)
    _write(fig, 4.95, 4.3 - 0.42, "From DRAM at least", fontweight="bold")
    _write(fig, 4.95, 0.62, f"all blocks together read {facts.read / 1e6:,.0f} MB", color=style.MUTED)


@checked
def block_order(
    m: int = 4096,
    n: int = 4096,
    k: int = 4096,
    block: tuple[int, int] = (128, 128),
    gpu: str = "h100",
    order: str = "row",
    group_m: int = 8,
    wave: int = 0,
) -> BlockOrder:
    """Explore the order in which output tiles run: "row", "column" or "grouped" (bands of `group_m` rows of tiles).

    m, n, k   the size of the product, with FP16 elements.   block: (BLOCK_M, BLOCK_N).
    gpu       a GPU on which one block at a time runs on each SM.
    wave      the wave to highlight; 0 is the first.

    Raises `LabError` if the tiles do not divide m × n, and for an unknown order or GPU.
    """
    return BlockOrder(m, n, k, block, gpu, order, group_m, wave)
