"""Plots timelines: a row for each agent of a pipeline, a colour for each stage of its ring, waits hatched.

Several timelines are drawn one above the other, on one scale if they have the same unit. The legend explains the
colours and marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from gemm_look import style
from gemm_results.errors import LabError
from gpu_timing.logical.pipeline_timeline import Event, Timeline, block_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 9.0  # inches, 900 pixels in a notebook
STAGES = (style.SKY, style.ORANGE, style.PURPLE, "#8A8A8A", style.YELLOW, "#B2DF8A", "#C4A484", "#F4A582")
NO_STAGE, TO_D = style.UNLIT_EDGE, style.tint(style.D, 0.75)
UNITS = ("TMA", "cp.async", "tensor core", "TMA store")
ROLES = ("", "producer", "MMA", "consumer", "epilogue", "other")  # also combined, such as "MMA + epilogue"
_ROW, _GAP, _HEAD, _FOOT, _AXIS, _RIGHT, _LEFT = 0.36, 0.09, 0.62, 1.45, 0.42, 0.35, 0.3  # inches
_IDLE, _HATCH, _BUBBLE = "#F4F5F7", "#B8C0C8", style.tint(style.CONFLICT, 0.35)
MOST_LANES = 8  # most agents that are drawn within one row


@style.drawn
def timeline(timelines: Timeline | Sequence[Timeline], title: str = "") -> Figure:
    """One panel for each timeline, with a common time axis if all have the same unit; else each has its own.

    Raises `LabError` for a timeline without events.
    """
    from matplotlib.ticker import MaxNLocator

    panels = [timelines] if isinstance(timelines, Timeline) else list(timelines)
    if not panels or not all(panel.events for panel in panels):
        raise LabError("There is nothing to draw: a timeline needs at least one event.")
    rows = [rows_of(panel) for panel in panels]
    heights = [len(each) * (_ROW + _GAP) for each in rows]
    shared = len({panel.unit for panel in panels}) == 1
    height = _HEAD * len(panels) + sum(heights) + _FOOT + (0.3 if title else 0)
    height += 0 if shared else _AXIS * (len(panels) - 1)
    fig = style.figure(WIDTH, height)
    names = 0.3 + 0.083 * max(len(name) for each in rows for name, _ in each)
    top = 0.34 if title else 0.0
    if title:
        fig.text(_LEFT / WIDTH, 1 - 0.32 / height, title, fontweight="bold", fontsize=style.BODY, va="center_baseline")
    for panel, each, tall in zip(panels, rows, heights, strict=True):
        scale = panels if shared else [panel]
        begin, end = min(one.start for one in scale), max(one.end for one in scale)
        top += _HEAD
        ax = style.axes(fig, left=_LEFT + names, right=_RIGHT, top=top, bottom=height - top - tall)
        ax.set(xlim=(begin, end + 0.002 * (end - begin)), ylim=(len(each), 0))
        ax.spines["left"].set_visible(False)
        ax.set_yticks([])
        top += tall
        last = panel is panels[-1] or not shared
        ax.xaxis.set_major_locator(MaxNLocator(7))
        style.plain_ticks(ax.xaxis)
        ax.tick_params(axis="x", labelbottom=last)
        _panel(ax, panel, each, (WIDTH - _LEFT - names - _RIGHT) / (end - begin))
        line = 1 - (top - tall - 0.36) / height
        fig.text(_LEFT / WIDTH, line, panel.title, fontweight="bold", va="center_baseline")
        if panel.of("tensor core", "mma"):
            words, look = f"tensor cores busy {panel.share():.0%} of their span", {"color": style.MUTED}
            fig.text(1 - _RIGHT / WIDTH, line, words, ha="right", va="center_baseline", **look)
        if last:
            ax.set_xlabel(panel.unit, loc="right", color=style.MUTED, fontsize=style.SMALL)
        top += 0 if shared else _AXIS
    _legend(fig, panels)
    return fig


def rows_of(timeline: Timeline) -> list[tuple[str, list[str]]]:
    """(label, agents) of each row: first the units, then the warps, those of one role in one row.

    Agents that only wait are left out. Blocks, and agents of one kind, that do the same at the same time appear once.
    """
    courses: dict[str, tuple] = {}
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}  # (unit, role) -> block -> agents
    for agent in timeline.agents:
        events = [event for event in timeline.events if event.agent == agent]
        if any(event.kind != "wait" for event in events):
            courses[agent] = tuple((e.kind, e.stage, round(e.start, 2), round(e.end, 2)) for e in events)
            block, unit, role, _ = _parts(agent)
            groups.setdefault((unit, role), {}).setdefault(block, []).append(agent)
    rows = []
    for (unit, role), blocks in groups.items():
        alike = len({tuple(sorted(courses[agent] for agent in agents)) for agents in blocks.values()}) == 1
        for block, agents in list(blocks.items())[: 1 if alike else None]:
            names = "blocks " + ", ".join(name.removeprefix("block ") for name in blocks) if len(blocks) > 1 else block
            label = (names if alike else block) + " · " if block else ""
            order = (UNITS.index(unit) if unit else len(UNITS), "" if alike else block, ROLES.index(role.split(" ")[0]))
            shown = agents[:1] if len({courses[agent] for agent in agents}) == 1 else agents[:MOST_LANES]
            rows.append((order, label + _name(unit, role, agents), shown))
    return [(label, shown) for _, label, shown in sorted(rows, key=lambda row: row[0])]


def _parts(agent: str) -> tuple[str, str, str, int]:
    """(block, unit, role, warp) from an agent's name; a missing one is "", or -1 for the warp."""
    block = block_of(agent)
    rest = agent.removeprefix(f"{block} · ")
    if rest.startswith("warp "):
        warp, _, role = rest.removeprefix("warp ").partition(" · ")
        return block, "", role, int(warp)
    return block, max((unit for unit in UNITS if f"{rest} ".startswith(f"{unit} ")), key=len), "", -1


def _name(unit: str, role: str, agents: list[str]) -> str:
    warps = sorted(_parts(agent)[3] for agent in agents)
    if role:
        return (f"warps {warps[0]}–{warps[-1]}" if len(warps) > 1 else f"warp {warps[0]}") + f" · {role}"
    if len(agents) == 1:
        return unit
    return f"{unit}s" if unit == "tensor core" else f"{unit}, by stage"


def colour_of(event: Event) -> str:
    """The fill colour of an event."""
    if event.kind in ("epilogue", "store"):
        return TO_D
    base = NO_STAGE if event.stage is None else STAGES[event.stage % len(STAGES)]
    return style.tint(base, 0.4 if event.kind == "issue" else 0.8)


def _panel(ax, timeline: Timeline, rows, inches: float) -> None:
    high = 1 - _GAP / (_ROW + _GAP)
    for y, (name, agents) in enumerate(rows):
        across = ("axes fraction", "data")
        style.near(ax, name, (0, y + high / 2), (-8, 0), xycoords=across, ha="right", va="center_baseline")
        _box(ax, 0, y, 1, high, _IDLE, 0, transform=ax.get_yaxis_transform())
        tall = high / len(agents)
        for number, agent in enumerate(agents):
            for event in _joined([event for event in timeline.of(agent) if event.agent == agent]):
                _event(ax, event, y + number * tall, tall * (0.94 if len(agents) > 1 else 1), inches)
        if _parts(agents[0])[1] == "tensor core":
            _bubbles(ax, timeline, agents, y, high)
            _tiles(ax, timeline, agents, y, inches)


def _joined(events: list[Event]) -> list[Event]:
    """The events, with those joined that look the same and follow one another without a gap."""
    done: list[Event] = []
    for event in events:
        if done and done[-1][:4] == event[:4] and event.start - done[-1].end < 1e-9:
            event = event._replace(start=done.pop().start)
        done.append(event)
    return done


def _event(ax, event: Event, y: float, high: float, inches: float) -> None:
    wide = event.length * inches
    if event.kind == "wait":
        _box(ax, event.start, y, event.length, high, style.PAPER, 2, edgecolor=_HATCH, hatch="////", lw=0.4)
        return
    line, fill = 0.5 if wide > 0.03 else 0.0, colour_of(event)
    _box(ax, event.start, y, event.length, high, fill, 3, edgecolor=style.PAPER, lw=line)
    if event.stage is not None and event.kind in ("load", "mma") and wide > 0.16 and high > 0.5:
        middle, look = (event.start + event.length / 2, y + high / 2), {"ha": "center", "va": "center_baseline"}
        ax.text(*middle, str(event.stage), color=style.text_on(fill), zorder=4, **look)


def _box(ax, x: float, y: float, wide: float, high: float, fill: str, level: int, **look) -> None:
    """Draw a rectangle; level: what it covers. Without another look it has no edge."""
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((x, y), wide, high, facecolor=fill, zorder=level, **({"lw": 0} | look)))


def _bubbles(ax, timeline: Timeline, agents, y: float, high: float) -> None:
    """Mark in vermilion the times between the first product and the last in which no tensor core works."""
    name = agents[0] if len(agents) == 1 else agents[0].rsplit(" ", 1)[0]  # "tensor core 0" to "tensor core"
    for start, end in timeline.bubbles(name):
        _box(ax, start, y, end - start, high, _BUBBLE, 1)


def _tiles(ax, timeline: Timeline, agents, y: float, inches: float) -> None:
    """Draw a line above the tensor cores' row for each tile of D."""
    spans: dict[int, list[float]] = {}
    for agent in agents:
        for event in timeline.of(agent, "mma"):
            if event.tile is not None:
                span = spans.setdefault(event.tile, [event.start, event.end])
                span[0], span[1] = min(span[0], event.start), max(span[1], event.end)
    for tile, (start, end) in spans.items():
        look = {"color": style.INK, "lw": style.LINE, "solid_capstyle": "butt", "clip_on": False}
        ax.plot([start + 0.02 / inches, end - 0.02 / inches], [-0.09, -0.09], **look)
        if (end - start) * inches > 0.5:
            ax.text((start + end) / 2, -0.2, f"tile {tile} of D", ha="center", va="bottom", color=style.MUTED)


def _legend(fig: Figure, panels: list[Timeline]) -> None:
    stages = max(panel.stages for panel in panels)
    kinds = {event.kind for panel in panels for event in panel.events}
    kinds |= {"pause"} if any(panel.bubbles() for panel in panels) else set()
    x, y, step = _LEFT, 0.77, 0.2

    def write(x: float, y: float, words: str) -> None:
        fig.text(x / WIDTH, y / fig.get_figheight(), words, va="center_baseline", color=style.MUTED)

    if stages:
        write(x, y, "stage")
        x += 0.47
        for stage in range(min(stages, len(STAGES))):
            _swatch(fig, x, y, style.tint(STAGES[stage], 0.8))
            write(x + step, y, str(stage))
            x += 0.36
        x += 0.08
    for wanted, words, fill, hatch in (
        ({"issue"}, "a warp asks or feeds", style.tint(NO_STAGE, 0.4), None),
        ({"wait"}, "waits", style.PAPER, "////"),
        ({"epilogue", "store"}, "towards D", TO_D, None),
        ({"pause"}, "tensor cores idle", _BUBBLE, None),
    ):
        if wanted & kinds:
            _swatch(fig, x, y, fill, hatch)
            write(x + step, y, words)
            x += 0.4 + 0.08 * len(words)
    notes = dict.fromkeys(panel.note for panel in panels if panel.note)
    if len(notes) > 1:  # then each note begins with the name of its panel
        notes = dict.fromkeys(f"{panel.title.split()[0]}: {panel.note}" for panel in panels if panel.note)
    for line, words in enumerate(reversed(wrap(" ".join(notes), 108))):
        write(_LEFT, 0.2 + 0.23 * line, words)


def _swatch(fig: Figure, x: float, y: float, fill: str, hatch: str | None = None) -> None:
    from matplotlib.patches import Rectangle

    look = {"facecolor": fill, "hatch": hatch, "edgecolor": _HATCH if hatch else fill, "lw": 0.4}
    fig.add_artist(Rectangle((x, y - 0.06), 0.16, 0.14, transform=fig.dpi_scale_trans, **look))
