"""One GEMM, one zoom: from the matrices in DRAM down to the bits of one address, over the recorded steps of a kernel.

lab.zoom(lab.kernel("t4/03_swizzled").run(n=256))      the learner's own, perhaps edited kernel
lab.zoom(level="bank")                                 a small product of t4/03_swizzled
"""

from __future__ import annotations

import traitlets

from gemm_lab.lab import Run, kernel
from gemm_lab.notebook.exercise_kernel import solutions_ahead
from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab_lessons.zoom.zoom_events import Event
from gemm_lab_lessons.zoom.zoom_scene import ALL_WARPS, Scene
from gemm_lab_lessons.zoom.zoom_text import LEVELS
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, checked, shown

# The kernel and the size without a run: four blocks of four warps, two k tiles, and a swizzle.
DEFAULT = ("t4/03_swizzled", {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "NUM_WARPS_M": 2, "NUM_WARPS_N": 2}, 128)
MOST_BLOCKS = 4  # recorded blocks that are kept


class Zoom(PicturedWidget):
    """The widget that `zoom` creates.

    `level`, `step`, `block`, `warp` (-1: all warps of the block) and `lane` are attributes, which follow the live view
    and change it. A value that does not exist raises `LabError` and changes nothing.
    """

    what = "The zoom: one product, from the matrices in DRAM down to the bits of an address."
    _esm = esm(__file__)
    _css = css()

    title = traitlets.Unicode().tag(sync=True)
    scene = traitlets.Dict().tag(sync=True)
    level = traitlets.Unicode("block").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    blocks = traitlets.Int(1).tag(sync=True)
    block = traitlets.Int(0).tag(sync=True)
    warps = traitlets.Int(1).tag(sync=True)
    warp = traitlets.Int(0).tag(sync=True)
    lane = traitlets.Int(5).tag(sync=True)

    _ready = False

    def __init__(self, run: Run, level: str = "block", line: int | None = None, block: int = 0, warp: int = 0):
        super().__init__()
        self._run, self._scenes, self._hidden = run, {}, solutions_ahead(run.kernel)
        x, y, z = run._counted()._launch.grid if run._counted()._launch is not None else (1, 1, 1)
        self.blocks = x * y * z
        self._level_exists({"value": level})
        scene = self._recorded(block)
        self._require_warp(scene, warp)
        if not scene.log.events:
            raise LabError(f"Block {block} of {run.kernel.label} accesses no memory and multiplies nothing.")
        if line is not None:
            warp = self._warp_at(scene, line, warp)
        elif not scene.total(warp):
            warp = min(scene.log.totals)
        with self.hold_trait_notifications():
            self.level, self.block, self.warp, self.warps = level, block, warp, scene.warps
        self._ready = True
        self._hand_over()
        self.step = self._first_step(line)

    def _shown_at_level(self, event: Event) -> bool:
        """Whether the level shows this event itself, and not one that is near to it."""
        if self.level == "fragment":
            return event.what == "mma"
        return self.level not in ("bank", "bits") or event.shared is not None

    def _changed_by_xor(self, event: Event) -> bool:
        """Whether an XOR changes the address of the chosen lane."""
        address = -1 if event.shared is None else int(event.shared[self.lane])
        scene = self._recorded(self.block)
        matrix = None if event.source is None or address < 0 else scene.matrix_at(event.source[[self.lane]])
        layout = scene.layouts.get(matrix.name) if matrix else None
        return layout is not None and any(address - layout["base"] >> start & 1 for start, _ in layout["xor"])

    # ---- What may be chosen ----

    @traitlets.validate("level")
    def _level_exists(self, proposal):
        if proposal["value"] not in LEVELS:
            raise LabError(f"The zoom has no level {shown(proposal['value'])}; it has {', '.join(LEVELS)}.")
        return proposal["value"]

    @traitlets.validate("block")
    def _block_exists(self, proposal):
        if self._ready:
            self._recorded(proposal["value"])
        return proposal["value"]

    @traitlets.validate("warp")
    def _warp_exists(self, proposal):
        if self._ready:
            self._require_warp(self._recorded(self.block), proposal["value"])
        return proposal["value"]

    @traitlets.validate("step")
    def _step_exists(self, proposal):
        count = len(self.scene["events"]["what"]) if self._ready else 0
        if self._ready and not 0 <= proposal["value"] < count:
            raise LabError(f"There is no step {proposal['value']}; steps 0 to {count - 1} can be shown.")
        return proposal["value"]

    @traitlets.validate("lane")
    def _lane_exists(self, proposal):
        if not 0 <= proposal["value"] < 32:
            raise LabError(f"A warp has the lanes 0 to 31, not {proposal['value']}.")
        return proposal["value"]

    @traitlets.observe("block", "warp")
    def _hand_over(self, _change=None) -> None:
        if self._ready:
            with self.hold_sync():
                scene = self._recorded(self.block)
                if not scene.total(self.warp):
                    self.warp = ALL_WARPS
                self.scene = scene.sent(self.warp)
                name = self._run.kernel.name + " edited" * self._run.kernel.edited
                self.title = f"{name}, {' × '.join(map(str, scene.size))}, {self._run.compiled.arch}"
                self.step = 0

    def _require_warp(self, scene: Scene, warp: int) -> None:
        if warp != ALL_WARPS and not 0 <= warp < scene.warps:
            raise LabError(
                f"There is no warp {warp}; a block has {scene.warps}, counted from 0, and {ALL_WARPS} stands for all."
            )

    def _recorded(self, block: int) -> Scene:
        if block not in self._scenes:
            made = Scene(self._run, block, self._hidden)
            if len(self._scenes) >= MOST_BLOCKS:
                del self._scenes[next(iter(self._scenes))]
            self._scenes[block] = made
        return self._scenes[block]

    def _events_at(self, scene: Scene, line: int) -> list:
        spec = self._run.kernel.spec
        own = "cell" if self._run.kernel.edited else spec.file
        wanted = {n for n, (file, number, _) in enumerate(scene.listing) if number == line and file == own}
        wanted = wanted or {n for n, (_, number, _) in enumerate(scene.listing) if number == line}
        return [event for event in scene.log.events if scene.line_of_site.get(event.site) in wanted]

    def _warp_at(self, scene: Scene, line: int, warp: int) -> int:
        """The warp, or else the first one that executes the line. Raises `LabError` if none does."""
        found = self._events_at(scene, line)
        if not found:
            lines = sorted({scene.listing[at][1] for event in scene.log.events
                            if (at := scene.line_of_site.get(event.site)) is not None})  # fmt: skip
            near = min(lines, key=lambda number: abs(number - line), default=None)
            raise LabError(
                f"No memory access and no mma belongs to line {line}."
                + (f" The nearest line with one is {near}." if near is not None else "")
            )
        return warp if any(warp in (ALL_WARPS, event.warp) for event in found) else found[0].warp

    def _first_step(self, line: int | None) -> int:
        """The first step of a line, or without one the first that the level shows."""
        scene, count = self._recorded(self.block), len(self.scene["events"]["what"])
        events = [event for _, event in scene.events(self.warp)[:count]]
        ways = [self._changed_by_xor] * (self.level == "bits") + [self._shown_at_level]
        if line is not None:
            wanted = set(map(id, self._events_at(scene, line)))
            ways = [lambda event: id(event) in wanted]
        found = (step for fits in ways for step, event in enumerate(events) if fits(event))
        return next(found, 0)

    # ---- What it shows ----

    @property
    def event(self):
        """The recorded `Event` of the current step."""
        return self._recorded(self.block).events(self.warp)[self.step][1]

    @property
    def sentence(self) -> str:
        """Which step is seen, its line, and what happens."""
        events, step = self.scene["events"], self.step
        line = events["line"][step]
        number, _, own = self.scene["lines"][line] if line >= 0 else (0, "", 0)
        place = f", line {number}{' of your cell' if own else ''}" if line >= 0 else ""
        count, total = len(events["what"]), self.scene["total"]
        cut = f" (the first {count:,} of {total:,} are shown)" if total > count else ""
        return f"Step {step + 1:,} of {count:,}{cut}{place}: {self.scene['says'][events['says'][step]]}."

    @property
    def text(self) -> str:
        why = self.scene["why"].get(self.level, "")
        place = f"Zoom: {self.title}, block {self.block} of {self.blocks}, level “{self.level}”"
        return f"{place}. {self.sentence} {why}".rstrip()


@checked
def zoom(run: Run | None = None, level: str = "block", line: int | None = None, block: int = 0, warp: int = 0) -> Zoom:
    """Zoom into one matrix product, from DRAM down to the bits of an address, and step through what a warp does.

    run    the result of `kernel.run()`, for an edited kernel, too; by default a small product of t4/03_swizzled.
           After a run on a GPU, the simulator runs the kernel again at a small size
    level  "dram" (the matrices and their sectors), "block" (block tiles), "warp" (warp tiles and shared memory),
           "fragment" (which lane holds what of an mma), "bank" (the banks and wavefronts), "bits" (one address)
    line   begin at the first step of this source line; by default at the first step that the level shows
    block, warp  whose steps are shown; warp=-1 for all warps of the block

    In a notebook of the series, the source leaves out lines that solve an exercise which the session has not solved.

    Raises `LabError` for a level, a line, a block or a warp that does not exist; the message lists those that do.
    """
    if as_whole(line) is None and line is not None:
        raise LabError(f"line is the number of a source line, not {shown(line)}.")
    if level not in LEVELS:
        raise LabError(f"The zoom has no level {shown(level)}; it has {', '.join(LEVELS)}.")
    return Zoom(_default_run() if run is None else run, level, line, block, warp)


def _default_run() -> Run:
    name, settings, n = DEFAULT
    return kernel(name, **settings).run(n, backend="simulator", timed=False)
