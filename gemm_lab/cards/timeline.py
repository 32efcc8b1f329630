"""`k.timeline()`: the pipeline of one block in logical time, drawn alone or beside another kernel's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gemm_lab.config import data_dir
from gemm_lab.measure.inputs import make_inputs
from gemm_lab.model.pipeline_placing import Costs, place
from gemm_lab.model.pipeline_timeline import Timeline, broken_laws
from gpu_simulator.errors import ConfigError, LabError
from gpu_simulator.hardware import data_sheets as hardware
from gpu_simulator.timeline.trace import ASYNC, LOAD, MMA

if TYPE_CHECKING:
    from gemm_lab.lab.kernel import Kernel

K_TILES = 8  # k tiles of a tile of D, where no size is asked for
MOST_PRODUCTS = 256**3 * 8  # of one block on the emulator; about two seconds


@dataclass(frozen=True)
class Pipeline:
    """One or more timelines that are drawn on one scale. `timeline` is the first; its `events` are plain tuples."""

    timelines: tuple[Timeline, ...] = field(repr=False)

    @property
    def timeline(self) -> Timeline:
        return self.timelines[0]

    @property
    def events(self) -> tuple:
        return self.timeline.events

    @property
    def share(self) -> float:
        """Of the time from the first product to the last, the part in which the tensor cores work."""
        return self.timeline.share()

    @property
    def broken_laws(self) -> list[str]:
        """What a sound pipeline may not show, in words: a stage overwritten while it is multiplied, and such."""
        return [law for timeline in self.timelines for law in broken_laws(timeline)]

    def beside(self, other: Pipeline) -> Pipeline:
        """Both, one above the other: on one scale, unless one is in logical time and the other was measured."""
        return Pipeline(self.timelines + other.timelines)

    def between(self, start: float, end: float) -> Pipeline:
        """A part of it."""
        return Pipeline(tuple(timeline.between(start, end) for timeline in self.timelines))

    def plot(self, title: str = "") -> Any:
        from gemm_lab.plots.timeline import timeline

        return timeline(self.timelines, title)

    def _repr_png_(self):
        from gemm_lab.plots.palette import compact
        from gemm_lab.plots.style import SHOWN_DPI, png

        return compact(png(self.plot(), SHOWN_DPI), most=32, apart=22)  # hatches make large files

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


def recorded_pipeline(kernel: Kernel, on: str) -> Pipeline:
    """The timeline that was stamped on a GPU; raises `LabError` naming those that were."""
    from gemm_lab.measure.timeline_files import load

    folder = data_dir("results") / "timelines"
    path = folder / hardware.gpu(on).key / f"{kernel.name.replace('/', '_')}.csv"
    if not path.is_file():
        there = sorted(f"{file.stem} on {file.parent.name}" for file in folder.glob("*/*.csv"))
        raise LabError(
            f"No timeline of {kernel.name} was recorded on {hardware.gpu(on).name}; there are "
            f"{', '.join(there) or 'none yet'}."
        )
    return Pipeline((load(path)[0],))


def pipeline(kernel: Kernel, m: int | None, n: int | None, k: int | None, sms: int | None, costs: dict) -> Pipeline:
    """The timeline of block 0 of an m × n × k product, from the emulator's schedule; see `Kernel.timeline`."""
    from gemm_lab.lab.emulating import limits
    from gpu_simulator.timeline.recording import record

    steps = kernel.spec.size_multiples(kernel.config)
    blocks = kernel.spec.cluster[0] * kernel.spec.cluster[1] * kernel.spec.cluster[2]
    config = kernel.config
    m = m or max(steps["m"], config.get("BLOCK_M", 32))
    n = n or 2 * max(steps["n"], config.get("BLOCK_N", 32))
    k = k or K_TILES * max(steps["k"], config.get("BLOCK_K", 16))
    kernel.spec.require_size(config, m, n, k)
    compiled = kernel.compile()
    grid = kernel.spec.launch_grid(config, m, n, k, sms or blocks)
    products = m * n * k * blocks // (grid[0] * grid[1] * grid[2])
    if products > MOST_PRODUCTS:
        raise LabError(
            f"A timeline of {m} × {n} × {k} on {grid[0] * grid[1] * grid[2]} blocks would take long on the "
            f"emulator: block 0 multiplies {products:,} pairs, and {MOST_PRODUCTS:,} are enough to see a "
            "pipeline. Take a smaller k, fewer tiles, or more blocks with sms=."
        )
    gpu = kernel.taught_gpu()
    unknown = sorted(set(costs) - set(Costs.__dataclass_fields__))
    if unknown:
        raise ConfigError(f"There is no cost {', '.join(unknown)}; there are {', '.join(Costs.__dataclass_fields__)}.")
    inputs = make_inputs(kernel.problem, m, n, k, "integers", 0)
    trace = record(
        compiled,
        grid,
        (compiled.threads, 1, 1),
        inputs.arguments(),
        cluster=kernel.spec.cluster,
        name=kernel.label,
        **limits(m, n, k),
    )
    if not any(step.what in (LOAD, ASYNC, MMA) for steps in trace.steps.values() for step in steps):
        raise LabError(
            f"{kernel.name} has no pipeline to draw: it neither copies asynchronously nor multiplies on tensor cores."
        )
    return Pipeline((place(trace, Costs.of(gpu, **costs)),))
