"""The visual style of all pictures and plots of the series.

Each colour has the same meaning everywhere: A is blue, B is orange, C and D are green, the memories go from deep violet
(DRAM) to pink (registers), a conflict is vermilion, and the current rung is yellow. The eight base colours are the set
of Okabe and Ito (2008), which people with the common kinds of colour blindness can tell apart. Colour is never the only
sign: everything coloured also has a label.

Sizes are inches and points. A picture is 8 inches wide and is shown with 800 pixels, so 11 points in the picture are
about 15 pixels on the screen.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# ---- Okabe-Ito ----
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"

# ---- Fixed meanings ----
A, B, C, D = BLUE, ORANGE, GREEN, GREEN
MEMORY = {"DRAM": "#4B2E83", "L2": "#7D3C98", "shared memory": "#B04A93", "registers": "#D98BB0"}
LIT, UNLIT, UNLIT_EDGE = YELLOW, "#DDE2E7", "#A3ADB8"  # the current rung, and the others
WAVEFRONT, CONFLICT = SKY, VERMILION  # the first wavefront of an access, and every further one
GROUPS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, "#8A8A8A")  # eight kinds with no other meaning

# ---- Paper and ink ----
PAPER, INK, MUTED, RULE, CARD_EDGE = "#FFFFFF", "#1F2328", "#57606A", "#8C959F", "#D0D7DE"
SANS, MONO = "DejaVu Sans", "DejaVu Sans Mono"  # both come with matplotlib
SMALL, BODY, LARGE = 11, 12, 14  # points
WIDTH, DPI, SHOWN_DPI = 8.0, 150, 100  # inches; pixels per inch in a file and on the screen
MOST_MARKS = 40  # points of one line that are said in words
LABEL_GAP = 0.21  # least vertical distance of labels beside the axes, in inches
THIN, LINE, THICK = 0.8, 1.4, 2.2  # line widths, points

RC = {
    "font.family": [SANS],
    "font.size": SMALL,
    "mathtext.fontset": "dejavusans",
    "axes.labelsize": SMALL,
    "axes.titlesize": BODY,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "text.color": INK,
    "axes.unicode_minus": True,
}
_FAMILIES = (
    "font.",
    "text.",
    "axes.",
    "lines.",
    "patch.",
    "xtick.",
    "ytick.",
    "mathtext.",
    "path.",
    "hatch.",
)


@functools.cache
def _card() -> type[Figure]:
    """The class of cards: Figures that Jupyter shows at 100 pixels per inch, without pyplot or a backend.

    As text, a card is the words that stand in it and the heights of its points, unless a line has very many: a screen
    reader can say them, and two versions of a picture can be compared by them.
    """
    import numpy as np
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    class Card(Figure):
        def __repr__(self) -> str:
            self.draw_without_rendering()  # which places the ticks, and so decides their words
            shown = (" ".join(text.get_text().split()) for text in self.findobj(Text) if text.get_visible())
            marks = [np.asarray(line.get_ydata(), float) for axes in self.axes for line in axes.lines]
            marks += [np.asarray(dots.get_offsets())[:, 1] for axes in self.axes for dots in axes.collections]
            heights = (
                " ".join(f"{value:.4g}" for value in values) for values in marks if 1 < len(values) <= MOST_MARKS
            )
            return "Picture: " + " · ".join(filter(None, (*shown, *heights)))

        def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
            width, height = self.get_size_inches()
            return png(self), {"width": round(width * SHOWN_DPI), "height": round(height * SHOWN_DPI)}

    return Card


def drawn(function):
    """Decorator: the drawing function runs with this style, whatever the notebook has set in rcParams."""

    @functools.wraps(function)
    def under_style(*args, **kwargs):
        import matplotlib

        defaults = {k: v for k, v in matplotlib.rcParamsDefault.items() if k.startswith(_FAMILIES)}
        with matplotlib.rc_context({**defaults, **RC}):
            return function(*args, **kwargs)

    return under_style


def figure(width: float = WIDTH, height: float = 4.0) -> Figure:
    """An empty figure of `width` by `height` inches, to which axes can be added.

    It is a white card with round corners, so that it is legible on a dark page too.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.patches import FancyBboxPatch

    fig = _card()(figsize=(width, height), dpi=SHOWN_DPI)
    FigureCanvasAgg(fig)
    fig.patch.set_alpha(0.0)
    margin, radius = 0.02, 0.14  # inches
    card = FancyBboxPatch(
        (margin, margin),
        width - 2 * margin,
        height - 2 * margin,
        boxstyle=f"round,pad=0,rounding_size={radius}",
        transform=fig.dpi_scale_trans,
        facecolor=PAPER,
        edgecolor=CARD_EDGE,
        linewidth=1.0,
        zorder=-10,
    )
    fig.add_artist(card)
    return fig


def axes(fig: Figure, left=0.8, right=0.3, top=0.3, bottom=0.65) -> Axes:
    """Axes in the series' style, with these margins on the card, in inches."""
    width, height = fig.get_size_inches()
    rect = (left / width, bottom / height, (width - left - right) / width, (height - top - bottom) / height)
    ax = fig.add_axes(rect)
    apply(ax)
    return ax


def apply(ax: Axes) -> Axes:
    """Give axes the series' style: two thin spines, short ticks, no grid, a transparent background. Returns them."""
    ax.set_facecolor("none")
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(THIN)
        spine.set_color(RULE)
    ax.tick_params(which="both", color=RULE, labelcolor=MUTED, width=THIN, length=3, labelsize=SMALL)
    ax.minorticks_off()
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set(color=MUTED, fontsize=SMALL, family=SANS)
    return ax


def axis_titles(ax: Axes, x: str, y: str) -> None:
    """Write the titles of both axes: x below on the right, y above the axis, so that neither is rotated."""
    ax.set_xlabel(x, loc="right", color=MUTED, fontsize=SMALL)
    near(ax, y, (0, 1), (-30, 12), xycoords="axes fraction", ha="left", va="bottom", color=MUTED, fontsize=SMALL)


# ---- Labels ----
def near(ax: Axes, words: str, at: tuple[float, float], offset: tuple[float, float], **look: Any) -> None:
    """Write words beside the place `at`, in data units, moved by so many points. look: as for `ax.annotate`."""
    ax.annotate(words, at, xytext=offset, textcoords="offset points", **look)


def caption(fig: Figure, words: str, left: float) -> None:
    """Write muted words at the bottom of the card, `left` inches from its left edge."""
    at = left / fig.get_figwidth(), 0.16 / fig.get_figheight()
    fig.text(*at, words, ha="left", va="bottom", fontsize=SMALL, color=MUTED)


def key(fig: Figure, words: str) -> None:
    """Write muted words at the top right of the card."""
    at = 1 - 0.3 / fig.get_figwidth(), 1 - 0.3 / fig.get_figheight()
    fig.text(*at, words, ha="right", va="center", color=MUTED)


def diamonds(ax: Axes, places: Sequence[tuple[float, float]], size: float, edge: float, **look: Any) -> None:
    """Draw hollow diamonds at these places, which stand for published speeds. size, edge: in points."""
    look |= {"linestyle": "none", "marker": "D", "markersize": size, "markeredgewidth": edge}
    ax.plot(*zip(*places, strict=True), markerfacecolor=PAPER, markeredgecolor=INK, zorder=6, **look)


def plain_ticks(axis: Axis, ticks: Sequence[float] | None = None) -> None:
    """Write ticks as plain numbers with thousands separators, at `ticks` if given."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}"))
    axis.set_minor_locator(NullLocator())
    if ticks is not None:
        axis.set_major_locator(FixedLocator(list(ticks)))


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """The positions, moved so that neighbours are at least `gap` apart; they keep their order."""
    order = sorted(range(len(positions)), key=positions.__getitem__)
    placed = list(positions)
    for _ in range(200):
        moved = False
        for low, high in zip(order, order[1:], strict=False):
            short = gap - (placed[high] - placed[low])
            if short > 1e-9:
                placed[low] -= short / 2
                placed[high] += short / 2
                moved = True
        if not moved:
            break
    return placed


def labels_right(ax: Axes, labels: Sequence[tuple[float, str, str]]) -> None:
    """Write labels (y in data units, words, colour) to the right of linear axes, at least LABEL_GAP apart."""
    if not labels:
        return
    low, high = ax.get_ylim()
    inches = ax.get_position().height * ax.figure.get_figheight()
    heights = spread([(y - low) / (high - low) * inches for y, _, _ in labels], LABEL_GAP)
    for (_, words, colour), height in zip(labels, heights, strict=True):
        look = {"va": "center", "ha": "left", "fontsize": SMALL, "color": ink(colour)}
        ax.text(1.012, height / inches, words, transform=ax.transAxes, **look)


# ---- Colour arithmetic ----
def _rgb(colour: str) -> list[float]:
    """The channels of a colour "#RRGGBB", from 0 to 1."""
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def _hex(channels: Sequence[float]) -> str:
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)


def tint(colour: str, amount: float = 0.25) -> str:
    """The colour mixed with white: `amount` 1 gives the colour itself, 0 gives white."""
    return _hex([1 - amount * (1 - c) for c in _rgb(colour)])


def contrast(first: str, second: str = PAPER) -> float:
    """Contrast ratio of two colours as WCAG 2.1 defines it: 1 for equal colours, 21 for black on white."""

    def luminance(colour: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _rgb(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def ink(colour: str, on: str = PAPER, ratio: float = 4.6) -> str:
    """The colour, darkened until its contrast with the background `on` is at least `ratio`."""
    for step in range(21):
        darker = _hex([c * (1 - step / 20) for c in _rgb(colour)])
        if contrast(darker, on) >= ratio:
            return darker
    return INK


def text_on(fill: str) -> str:
    """INK or white, whichever has more contrast with the fill."""
    return max((INK, PAPER), key=lambda colour: contrast(colour, fill))


def png(fig: Figure, dpi: int = DPI) -> bytes:
    """The figure as PNG bytes, without a date or program name: the same figure gives the same bytes."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()
