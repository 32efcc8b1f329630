"""A sheet to draw on, in inches, with the origin at the top left and y downwards.

Pictures consist of boxes, grids of cells, arrows, lines and words. Each of these is one method here, so the module of a
picture contains only what the picture shows.
"""

from __future__ import annotations

from collections.abc import Callable

from gemm_look import style


class Sheet:
    """A card of `width` by `height` inches, covered by one pair of invisible axes."""

    def __init__(self, height: float, width: float = style.WIDTH):
        self.width, self.height = width, height
        self.fig = style.figure(width, height)
        self.ax = self.fig.add_axes((0, 0, 1, 1))
        self.ax.set_axis_off()
        self.ax.set(xlim=(0, width), ylim=(height, 0))

    def _add(self, patch):
        """Put a patch on the sheet. `add_patch` would also compute limits of the data; those of a sheet are set."""
        return self.ax.add_artist(patch)

    def text(
        self,
        x,
        y,
        words,
        *,
        size=style.SMALL,
        colour=style.INK,
        ha="center",
        va="center_baseline",
        bold=False,
        mono=False,
        rotation=0,
    ):
        """Write words at (x, y). size: in points."""
        return self.ax.text(
            x,
            y,
            words,
            fontsize=size,
            color=colour,
            ha=ha,
            va=va,
            fontweight="bold" if bold else "normal",
            family=style.MONO if mono else style.SANS,
            rotation=rotation,
            zorder=5,
        )

    def box(self, x, y, w, h, *, fill=style.PAPER, edge=style.RULE, lw=1.0, radius=0.07, dashed=False, z=2):
        """Draw a box with its top left corner at (x, y); radius 0 gives square corners."""
        from matplotlib.patches import FancyBboxPatch, Rectangle

        look = {"facecolor": fill, "edgecolor": edge, "linewidth": lw, "zorder": z}
        if dashed:
            look["linestyle"] = (0, (3, 2))
        if radius:
            patch = FancyBboxPatch((x, y), w, h, boxstyle=f"round,pad=0,rounding_size={radius}", **look)
        else:
            patch = Rectangle((x, y), w, h, joinstyle="miter", **look)
        return self._add(patch)

    def labelled(
        self,
        x,
        y,
        w,
        h,
        words,
        *,
        fill=style.PAPER,
        edge=style.RULE,
        size=style.SMALL,
        bold=False,
        mono=False,
        radius=0.07,
        lw=1.0,
        colour=None,
    ):
        """Draw a box with words in its middle, by default in a colour that is legible on the fill."""
        self.box(x, y, w, h, fill=fill, edge=edge, radius=radius, lw=lw)
        colour = colour or style.text_on(fill)
        va = "center_baseline" if "\n" not in words else "center"
        return self.text(x + w / 2, y + h / 2, words, size=size, bold=bold, mono=mono, colour=colour, va=va)

    def note(self, x, y, words):
        """Write words in grey that begin at (x, y)."""
        return self.text(x, y, words, ha="left", colour=style.MUTED)

    def cell(self, x, y, w, h, words="", **look):
        """Draw a box with square corners and a white edge. look: as for `labelled`."""
        self.labelled(x, y, w, h, words, edge=style.PAPER, radius=0, **look)

    def grid(
        self,
        x,
        y,
        rows,
        cols,
        w,
        h,
        *,
        fill: Callable[[int, int], str] | str = style.PAPER,
        words: Callable[[int, int], str] | None = None,
        edge=style.RULE,
        lw=0.7,
        size=style.SMALL,
        bold=False,
        mono=False,
        outline=None,
    ):
        """Draw rows x cols cells of w by h inches; `fill(i, j)` and `words(i, j)` give the colour and words of one."""
        for i in range(rows):
            for j in range(cols):
                colour = fill(i, j) if callable(fill) else fill
                self.box(x + j * w, y + i * h, w, h, fill=colour, edge=edge, lw=lw, radius=0)
                if words is not None and (label := words(i, j)):
                    self.text(
                        x + (j + 0.5) * w,
                        y + (i + 0.5) * h,
                        label,
                        size=size,
                        bold=bold,
                        mono=mono,
                        colour=style.text_on(colour),
                    )
        if outline:
            self.box(x, y, cols * w, rows * h, fill="none", edge=outline, lw=1.6, radius=0, z=4)

    def arrow(self, x0, y0, x1, y1, *, colour=style.MUTED, lw=1.4, head=9):
        """Draw an arrow from (x0, y0) to (x1, y1)."""
        from matplotlib.patches import FancyArrowPatch

        self._add(
            FancyArrowPatch(
                (x0, y0),
                (x1, y1),
                arrowstyle="-|>",
                mutation_scale=head,
                color=colour,
                linewidth=lw,
                shrinkA=0,
                shrinkB=0,
                zorder=3,
                joinstyle="miter",
            )
        )

    def line(self, *points, colour=style.RULE, lw=style.THIN, dashed=False, z=1):
        """Draw a line through points (x, y)."""
        xs, ys = zip(*points, strict=True)
        self.ax.plot(
            xs,
            ys,
            color=colour,
            linewidth=lw,
            linestyle=(0, (3, 2)) if dashed else "-",
            zorder=z,
            solid_capstyle="butt",
        )

    def shade(self, *points, colour=style.UNLIT, alpha=0.5, z=0):
        """Draw a filled area without an edge; its corners are points (x, y)."""
        from matplotlib.patches import Polygon

        self._add(Polygon(points, closed=True, facecolor=colour, edgecolor="none", alpha=alpha, zorder=z))
