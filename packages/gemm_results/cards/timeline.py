"""The result of `k.timeline()`: the pipeline of one block, alone or together with another kernel's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gpu_simulator.errors import NotHere
from gpu_timing.logical.pipeline_timeline import Timeline, broken_laws


@dataclass(frozen=True)
class Pipeline:
    """One or more timelines that are drawn together. `timeline` is the first of them, and `events` are its events."""

    timelines: tuple[Timeline, ...] = field(repr=False)

    @property
    def timeline(self) -> Timeline:
        return self.timelines[0]

    @property
    def events(self) -> tuple:
        return self.timeline.events

    @property
    def share(self) -> float:
        """Share, 0 to 1, of the time from the first product to the last in which the tensor cores work."""
        return self.timeline.share()

    @property
    def broken_laws(self) -> list[str]:
        """A sentence for each rule that a timeline breaks, such as a stage overwritten while it is multiplied."""
        return [law for timeline in self.timelines for law in broken_laws(timeline)]

    def beside(self, other: Pipeline) -> Pipeline:
        """Both pipelines, one above the other: on one scale, unless one is in logical time and the other measured."""
        return Pipeline(self.timelines + other.timelines)

    def between(self, start: float, end: float) -> Pipeline:
        """The part of all timelines from `start` to `end`."""
        return Pipeline(tuple(timeline.between(start, end) for timeline in self.timelines))

    def plot(self, title: str = "") -> Any:
        from gemm_results.plots.timeline import timeline

        return timeline(self.timelines, title)

    def _repr_png_(self):
        from gemm_look.palette import compact
        from gemm_look.style import SHOWN_DPI, png

        try:
            drawn = self.plot()
        except NotHere:  # then the words stand for the picture
            return None
        return compact(png(drawn, SHOWN_DPI), most=32, apart=22)  # hatches make large files

    def __repr__(self) -> str:
        return "\n".join(_words(timeline) for timeline in self.timelines)


def _words(timeline: Timeline) -> str:
    lines = [f"{timeline.title}: {timeline.end - timeline.start:,.0f} ({timeline.unit})"]
    if timeline.of("tensor core", "mma"):
        gaps = timeline.bubbles()
        count = f"{len(gaps)} gap" + "s" * (len(gaps) != 1)
        lines.append(
            f"  tensor cores busy {timeline.share():.0%} of their span, {count} of "
            f"{sum(end - start for start, end in gaps):,.0f}"
        )
    for agent in timeline.agents:
        spent: dict[str, float] = {}
        for event in timeline.of(agent):
            if event.agent == agent:
                spent[event.kind] = spent.get(event.kind, 0.0) + event.length
        lines.append(f"  {agent}: " + ", ".join(f"{kind} {time:,.0f}" for kind, time in spent.items()))
    return "\n".join(lines)
