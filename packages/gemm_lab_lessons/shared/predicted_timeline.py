"""The picture of `k.predicted_timeline()`: the warps of an SM as rows, cycle by cycle, and its units as strips.

from gemm_lab.notebook.widgets import predicted_timeline
predicted_timeline(lab.kernel("ampere/04_swizzled").predicted_timeline())   # which shows it by itself
"""

from __future__ import annotations

import traitlets

from gemm_lab.lab.predicted_timeline import PredictedTimeline
from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_results.cards.predicted_card import LABELS
from gemm_results.cards.profile_bars import Section
from gemm_results.errors import LabError
from gemm_results.stalls import BY_KEY
from gpu_simulator.argument_checks import checked
from gpu_timing.cycles.machine_code import Instruction
from gpu_timing.cycles.recording import Recording
from gpu_timing.machine_code.instruction_classes import FLOAT, TENSOR, instruction_class

AROUND = 2  # times the shown cycles that the view can be moved to either side
MANY_WARPS = 24  # of an SM, which are too many to be seen at once
# Units that have a strip: in each sub-partition the one that computes the products, and those that an SM has once.
STRIPS = {"shared_memory": "shared memory", "l1_tags": "L1 tags", "l2_port": "port to L2"}
PARTS = {"tensor": "tensor core", "fma": "FP32 units"}


class PredictedTimelineView(PicturedWidget):
    """The widget that `predicted_timeline` creates. `found` is the result that it shows."""

    what = "The predicted timeline of an SM: what each warp issues or waits for, cycle by cycle."
    _esm = esm(__file__)
    _css = css()

    title = traitlets.Unicode().tag(sync=True)
    gpu = traitlets.Unicode().tag(sync=True)
    trust = traitlets.Unicode().tag(sync=True)
    origin = traitlets.Int().tag(sync=True)  # the first cycle that was sent; all other times count from there
    length = traitlets.Int().tag(sync=True)  # cycles that were sent
    first = traitlets.Float().tag(sync=True)  # the first cycle that is seen, and how many are seen
    span = traitlets.Float().tag(sync=True)
    part = traitlets.Int(-1).tag(sync=True)  # the sub-partition that is seen; -1 for all four
    still = traitlets.Bool(False).tag(sync=True)  # without what answers: controls, and the words of what is pointed at
    warps = traitlets.List().tag(sync=True)  # [block, number in the block, sub-partition]
    code = traitlets.List().tag(sync=True)  # [machine instruction, its class, line number, text of the source line]
    issues = traitlets.List().tag(sync=True)  # [cycle, warp, place in code, reason, cycles, reason, cycles …]
    strips = traitlets.List().tag(sync=True)  # [name, sub-partition or -1, [[start, end, warp, place in code] …]]
    turns = traitlets.List().tag(sync=True)  # cycles in which a turn of the main loop begins
    reasons = traitlets.Dict().tag(sync=True)  # {reason: [label, what a warp waits for]}
    colours = traitlets.Dict().tag(sync=True)  # {label of a reason or class: colour}

    def __init__(self, found: PredictedTimeline) -> None:
        super().__init__()
        self.found, self.pictured = found, {"still": True, "part": 0}
        wide = found.end - found.start
        run = found.run.between(max(found.start - AROUND * wide, 0), found.end + AROUND * wide)
        self.title, self.gpu, self.trust = f"{found.kernel}, {found.m} × {found.n} × {found.k}", found.gpu, found.trust
        self.origin, self.length = int(run.start), int(run.end - run.start)
        self.first, self.span = float(found.start - self.origin), float(min(wide, run.end - found.start))
        self.warps = [list(warp) for warp in run.warps]
        self.part = 0 if len(self.warps) > MANY_WARPS else -1
        self._fill(run)

    def _fill(self, run: Recording) -> None:
        slots: dict[int, int] = {}

        def slot(index: int) -> int:
            return slots.setdefault(index, len(slots))

        def time(cycle: float) -> float:
            return round(cycle - self.origin, 2)

        self.issues = [
            [time(one.cycle), one.warp, slot(one.instruction), *(part for wait in one.waits for part in wait)]
            for one in run.issues
        ]
        self.turns = [time(cycle) for cycle in run.turns]
        computing = "tensor" if any(instruction_class(one.op) == TENSOR for one in run.code) else "fma"
        wanted = [(computing, PARTS[computing], part) for part in range(4)]
        wanted += [(unit, name, -1) for unit, name in STRIPS.items()]
        strips = []
        for unit, name, part in wanted:
            busy = [one for one in run.busy if (one.unit, one.part) == (unit, part)]
            strips.append([name, part, [[time(b.start), time(b.end), b.warp, slot(b.instruction)] for b in busy]])
        self.strips = strips
        self.code = [self._described(run.code[index]) for index in slots]
        used = {reason for one in run.issues for reason, _ in one.waits}
        self.reasons = {
            reason: [LABELS.get(reason, reason), BY_KEY[reason].waits_for if reason in BY_KEY else ""]
            for reason in sorted(used)
        }
        named = {label for label, _ in self.reasons.values()} | {kind for _, kind, _, _ in self.code} | {TENSOR, FLOAT}
        self.colours = {name: Section.colour(name) for name in sorted(named)}

    def _described(self, one: Instruction) -> list:
        source = self.found.sources.get((one.line.file, one.line.line), "").strip()
        return [one.line.text.rstrip("; "), instruction_class(one.op), one.line.line, source]

    @traitlets.validate("part")
    def _exists(self, proposal: traitlets.Bunch) -> int:
        if proposal["value"] not in range(-1, 4):
            raise LabError(f"There is no sub-partition {proposal['value']}; an SM has 0 to 3, and -1 shows all four.")
        return proposal["value"]

    @property
    def text(self) -> str:
        found = self.found
        unit, share = max(found.busy.items(), key=lambda pair: pair[1])
        return f"Predicted timeline: {found.kernel}, {found.headline}; busiest: {unit}, {share:.0%} of the time"


@checked
def predicted_timeline(found: PredictedTimeline) -> PredictedTimelineView:
    """Show the result of `k.predicted_timeline()`, a kernel's predicted cycles on an SM.

    The view can be moved over twice the cycles of the result to either side. For others, ask for another `start`.
    """
    return PredictedTimelineView(found)
