"""The wavefront stepper shows the shared-memory addresses of a compiled kernel, one warp and one wavefront at a time.

from gemm_lab.notebook.widgets import wavefronts
wavefronts(lab.kernel("t4/02_vectorized_copy").run(n=256))
"""

from __future__ import annotations

import traitlets

from gemm_lab.lab import Run
from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab.source_text import plural
from gemm_lab_lessons.ch04.shared_accesses import SharedAccess, line_at, shared_lines, totals, traced
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked

MOST_EXECUTIONS = 256  # executions of one warp that are sent to the browser


class WavefrontStepper(PicturedWidget):
    """The widget that `wavefronts` creates. `shown` is the access that it shows.

    `line`, `warp`, `execution` and `wavefront` (-1: all) are attributes, which follow the live view and change it. A
    line or a warp that does not exist raises `LabError` and changes nothing.
    """

    what = "The wavefront stepper: the accesses of a kernel to shared memory, one wavefront at a time."
    _esm = esm(__file__)
    _css = css()

    title = traitlets.Unicode().tag(sync=True)
    lines = traitlets.List().tag(sync=True)
    line = traitlets.Int().tag(sync=True)
    warps = traitlets.Int().tag(sync=True)
    warp = traitlets.Int(0).tag(sync=True)
    accesses = traitlets.List().tag(sync=True)  # the first `MOST_EXECUTIONS`
    whole = traitlets.List([0, 0, 0]).tag(sync=True)  # wavefronts, ideal wavefronts and executions of this warp
    execution = traitlets.Int(0).tag(sync=True)
    wavefront = traitlets.Int(-1).tag(sync=True)

    def __init__(self, run: Run, where: int | str | None = None, block: int = 0, warp: int = 0):
        super().__init__()
        self._run, self._block, self._lines, self._traces = run, block, shared_lines(run), {}
        line = line_at(run, self._lines, where).number
        self.title = f"{run.kernel.label}, {run.compiled.arch}, block {block}"
        self.warps = -(-run.compiled.threads // 32)
        told = ((one.number, one.text.strip(), one.wavefronts, one.ideal_wavefronts) for one in self._lines)
        self.lines = [dict(zip(("number", "text", "wavefronts", "ideal"), one, strict=True)) for one in told]
        self._trace(line, warp)
        with self.hold_trait_notifications():
            self.line, self.warp = line, warp
        self._ready = True
        self._hand_over()

    _ready = False

    @traitlets.validate("line", "warp")
    def _exists(self, proposal):
        if self._ready:
            chosen = {"line": self.line, "warp": self.warp, proposal["trait"].name: proposal["value"]}
            self._trace(line_at(self._run, self._lines, chosen["line"]).number, chosen["warp"])
        return proposal["value"]

    @traitlets.observe("line", "warp")
    def _hand_over(self, _change=None) -> None:
        if self._ready:
            with self.hold_sync():
                self.execution, self.wavefront = 0, -1
                self.whole = [*totals(self.trace), len(self.trace)]
                self.accesses = [_plain(access) for access in self.trace[:MOST_EXECUTIONS]]

    @traitlets.validate("execution")
    def _execution_exists(self, proposal):
        shown = min(len(self.trace), MOST_EXECUTIONS) if self._ready else 0
        if self._ready and not 0 <= proposal["value"] < shown:
            raise LabError(
                f"Line {self.line} runs {len(self.trace)} times in this warp; executions 0 to {shown - 1} can be shown."
            )
        return proposal["value"]

    def _trace(self, line: int, warp: int) -> list[SharedAccess]:
        if not 0 <= warp < self.warps:
            raise LabError(f"There is no warp {warp}; a block has {self.warps}, counted from 0.")
        if (line, warp) not in self._traces:
            found = traced(self._run, line, self._block, warp)
            if not found:
                raise LabError(
                    f"Warp {warp} of block {self._block} does nothing in shared memory at line {line}; "
                    "choose another warp."
                )
            self._traces[line, warp] = found
        return self._traces[line, warp]

    # ---- What it shows ----

    @property
    def trace(self) -> list[SharedAccess]:
        """All executions of the line by the warp."""
        return self._trace(self.line, self.warp)

    @property
    def shown(self) -> SharedAccess:
        return self.trace[self.execution]

    @property
    def source_line(self):
        """The source line that is shown: its number, its text and the costs of all warps."""
        return line_at(self._run, self._lines, self.line)

    @property
    def text(self) -> str:
        access, (whole, ideal, executions) = self.shown, self.whole
        return (
            f"Wavefront stepper: {self.title}, warp {self.warp}, line {self.line}, {access.opcode}: execution "
            f"{self.execution + 1} of {executions} takes {plural(access.schedule.count, 'wavefront')}, ideal "
            f"{access.ideal}; all of them {whole:,}, ideal {ideal:,}"
        )


def _plain(access: SharedAccess) -> dict:
    source = [] if access.source is None else access.source.tolist()
    return {
        "opcode": access.opcode,
        "kind": access.kind,
        "width": access.width,
        "addresses": access.addresses.tolist(),
        "source": source,
    }


@checked
def wavefronts(run: Run, where: int | str | None = None, block: int = 0, warp: int = 0) -> WavefrontStepper:
    """Step through the shared-memory accesses of a kernel that was run.

    run    the result of `kernel.run()`; after a run on a GPU, the simulator runs the kernel again at a small size
    where  a line of the learner's text, or the name of a region for its worst line; by default the worst line of all

    Raises `LabError` for a line, a region or a warp that cannot be shown; the message lists those that can.
    """
    return WavefrontStepper(run, where, block, warp)
