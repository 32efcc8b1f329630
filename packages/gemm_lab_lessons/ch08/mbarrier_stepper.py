"""The mbarrier stepper shows one mbarrier step by step: who waits for which parity, and the effect of a wrong one.

from gemm_lab.notebook.widgets import mbarrier
mbarrier()                              the first story: the barrier that counts the bytes of a stage
mbarrier("parity never flipped")
"""

from __future__ import annotations

import traitlets

from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab_lessons.ch08.mbarrier_phases import STORIES, Moment, play
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked


class MbarrierStepper(PicturedWidget):
    """The widget that `mbarrier` creates. `moment` is the moment that it shows.

    `story` and `step` are attributes, which follow the live view and change it.
    """

    what = "The mbarrier stepper: one barrier step by step, and who waits for which parity."
    _esm = esm(__file__)
    _css = css()

    stories = traitlets.List().tag(sync=True)
    story = traitlets.Unicode().tag(sync=True)
    moments = traitlets.Dict().tag(sync=True)  # story -> its moments
    step = traitlets.Int(0).tag(sync=True)

    @checked
    def __init__(self, story: str | None = None, step: int = 0):
        super().__init__()
        self._played = {name: play(*plot) for name, plot in STORIES.items()}
        self.stories = list(STORIES)
        self.moments = {name: [_plain(moment) for moment in moments] for name, moments in self._played.items()}
        self.story = story or self.stories[0]
        self.step = step

    @traitlets.validate("story")
    def _story_exists(self, proposal):
        if proposal["value"] not in STORIES:
            raise LabError(f"There is no story “{proposal['value']}”; there are {', '.join(STORIES)}.")
        return proposal["value"]

    @traitlets.observe("story")
    def _from_the_start(self, _change) -> None:
        self.step = 0

    @traitlets.validate("step")
    def _step_exists(self, proposal):
        last = len(self.played) - 1 if self.story else 0
        if not 0 <= proposal["value"] <= last:
            raise LabError(f"“{self.story}” has steps 0 to {last}; there is no step {proposal['value']}.")
        return proposal["value"]

    # ---- What it shows ----

    @property
    def played(self) -> list[Moment]:
        """All moments of the story."""
        return self._played[self.story]

    @property
    def moment(self) -> Moment:
        return self.played[self.step]

    @property
    def text(self) -> str:
        b, last = self.moment.barrier, len(self.played) - 1
        state = f"phase {b.phase}, {b.pending} of {b.expected} arrivals and {b.bytes:,} bytes missing"
        return (
            f"Mbarrier stepper: {self.story}, step {self.step} of {last}, {self.moment.who} {self.moment.code}: {state}"
        )


def _plain(moment: Moment) -> dict:
    told = {name: getattr(moment, name) for name in ("who", "code", "says", "good")}
    told |= {name: getattr(moment.barrier, name) for name in ("phase", "parity", "pending", "expected", "bytes")}
    return told | {"waiting": [list(pair) for pair in moment.waiting], "released": list(moment.released)}


def mbarrier(story: str | None = None, step: int = 0) -> MbarrierStepper:
    """Step through the phases of an mbarrier.

    story: one of `model.mbarrier_phases.STORIES`; by default the first.   step: the step shown first.
    Raises `LabError` for an unknown story or step; the message lists those that there are.
    """
    return MbarrierStepper(story, step)
