"""The swizzle explorer shows one access of a warp to a tile, and the banks that it uses.

w = lab.swizzle(rows=64, row_bytes=128, layout="plain")
w.wavefronts, w.ideal
w.change(layout="xor").wavefronts          of another explorer; the one that is shown stays as it is
w.set(access="column load", element="f32")  changes the one that is shown
print(w)
"""

from __future__ import annotations

import traitlets

from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab.source_text import plural
from gemm_lab_lessons.ch05.tile_access import TileAccess, access_problem, steps, tile_access, totals
from gemm_lab_lessons.ch05.tile_layout import TileLayout
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.hardware.swizzle import LayoutError

# Every Jupyter widget already has an attribute `layout`, so the trait for the tile's layout is called `scheme`.
LAYOUT_TRAITS = ("rows", "row_bytes", "element", "scheme", "pad_bytes", "bits", "base", "shift", "banks")
TRAITS = (*LAYOUT_TRAITS, "access", "step")


class SwizzleExplorer(PicturedWidget):
    """The widget that `swizzle` creates. The choices are attributes, which follow the live view and change it.

    The tile's layout is the attribute `scheme`. `set` sets several choices at once, and `change` makes another explorer
    with other choices, without touching this one. `wavefronts`, `ideal`, `tile` (a
    `TileLayout`) and `lanes` (a `TileAccess`) describe the current choice. `answer` is the learner's prediction; None
    if there is none yet. An impossible choice raises `LayoutError` and changes nothing.
    """

    what = "The swizzle explorer: one access of a warp to a tile, and the banks that it uses."
    _esm = esm(__file__)
    _css = css()

    rows = traitlets.Int(64).tag(sync=True)
    row_bytes = traitlets.Int(128).tag(sync=True)
    element = traitlets.Unicode("f16").tag(sync=True)
    scheme = traitlets.Unicode("plain").tag(sync=True)
    pad_bytes = traitlets.Int(16).tag(sync=True)
    bits = traitlets.Int(3).tag(sync=True)
    base = traitlets.Int(4).tag(sync=True)
    shift = traitlets.Int(3).tag(sync=True)
    banks = traitlets.Int(32).tag(sync=True)
    access = traitlets.Unicode("ldmatrix.x4").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    predict = traitlets.Bool(False).tag(sync=True)
    answer = traitlets.Int(None, allow_none=True).tag(sync=True)
    selected = traitlets.List(traitlets.Int(), default_value=[1, 0]).tag(sync=True)

    def __init__(self, **values):
        super().__init__()
        self.set(**values)

    def change(self, **values) -> SwizzleExplorer:
        """A new explorer with some choices changed, named as the parameters of `swizzle`; this one stays as it is.

        An answer to the question of `predict` is not taken over. Raises `LayoutError` with the reason if the choices
        are impossible.
        """
        same = {name: getattr(self, name) for name in (*TRAITS, "predict", "selected")}
        return SwizzleExplorer(**same).set(**values)

    def set(self, **values) -> SwizzleExplorer:
        """Set several choices at once, named as the parameters of `swizzle`, here and in the view; returns the widget.

        Raises `LayoutError` with the reason if they are impossible.
        """
        if "layout" in values:
            values["scheme"] = values.pop("layout")
        unknown = set(values) - {*TRAITS, "predict", "answer", "selected"}
        if unknown:
            known = ", ".join(("layout", *TRAITS, "predict"))
            raise LayoutError(f"The explorer has no choice “{min(unknown)}”; it has {known}.")
        values = self.plain(values)
        tile, access, step = self._resolve(values)
        tile_access(tile, access, step)  # raises for a step that does not exist
        selected = values.get("selected", self.selected)
        pair = isinstance(selected, (list, tuple)) and len(selected) == 2
        if not pair or any(as_whole(part) is None for part in selected):
            raise LayoutError(f"selected is [row, byte], two whole numbers, not {shown(selected)}.")
        row, byte = selected
        if not (0 <= row < tile.rows and 0 <= byte < tile.row_bytes):
            if "selected" in values:
                raise LayoutError(f"The tile has no byte {byte} in row {row}; it is {tile.rows} × {tile.row_bytes}.")
            values["selected"] = [0, 0]
        self._checked = True
        try:
            with self.hold_trait_notifications():
                for name, value in {**values, "step": step}.items():
                    setattr(self, name, value)
        finally:
            self._checked = False
        return self

    _checked = False  # True while `set` sets several choices, which need not be possible one by one

    def __setattr__(self, name: str, value) -> None:
        super().__setattr__("scheme" if name == "layout" and isinstance(value, str) else name, value)

    @traitlets.validate(*LAYOUT_TRAITS, "access")
    def _possible(self, proposal):
        if not self._checked and not self._cross_validation_lock:
            self._resolve({proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    @traitlets.validate("step")
    def _step_exists(self, proposal):
        if not self._checked and not self._cross_validation_lock:
            tile_access(self.tile, self.access, proposal["value"])
        return proposal["value"]

    @traitlets.observe(*LAYOUT_TRAITS, "access")
    def _step_stays(self, _change) -> None:
        if not self._checked and self.step >= steps(self.tile, self.access):
            self.step = 0

    def _resolve(self, values: dict) -> tuple[TileLayout, str, int]:
        """The tile, access and step with these values. If the current step does not exist any more, it becomes 0."""
        tile = self._tile(values)
        access = values.get("access", self.access)
        if problem := access_problem(tile, access):
            raise LayoutError(problem)
        step = values.get("step", self.step)
        return tile, access, step if "step" in values or step < steps(tile, access) else 0

    # ---- What it shows ----

    @property
    def tile(self) -> TileLayout:
        return self._tile({})

    def _tile(self, values: dict) -> TileLayout:
        chosen = {name: values.get(name, getattr(self, name)) for name in LAYOUT_TRAITS}
        return TileLayout(layout=chosen.pop("scheme"), **chosen)

    @property
    def lanes(self) -> TileAccess:
        return tile_access(self.tile, self.access, self.step)

    @property
    def wavefronts(self) -> int:
        """The wavefronts of the access that is shown."""
        return self.lanes.schedule.count

    @property
    def ideal(self) -> int:
        return self.lanes.ideal

    @property
    def whole_tile(self) -> tuple[int, int]:
        """(wavefronts, ideal wavefronts) of all steps together."""
        return totals(self.tile, self.access)

    @property
    def asked(self) -> bool:
        """Whether the learner still has to predict the count, so that the text must not show it."""
        return self.predict and self.answer is None

    @property
    def text(self) -> str:
        tile, lanes = self.tile, self.lanes
        said = f"{plural(self.wavefronts, 'wavefront')}, ideal {self.ideal}"
        return (
            f"Swizzle explorer: {tile.rows} rows × {tile.row_bytes} bytes of {tile.element}, {tile.name}, "
            f"{self.access} of {lanes.says}: {'how many wavefronts? Set .answer to see' if self.asked else said}"
        )


@checked
def swizzle(
    rows: int = 64,
    row_bytes: int = 128,
    layout: str = "plain",
    access: str = "ldmatrix.x4",
    element: str = "f16",
    **more,
) -> SwizzleExplorer:
    """Explore a tile in shared memory: which banks an access of one warp uses, and how an XOR changes that.

    rows, row_bytes  the size of the tile; row_bytes is a multiple of 16
    layout           "plain", "padded" (pad_bytes=16), "xor" (the XOR that fits the row), "swizzle" (bits, base, shift
                     of byte addresses, as in CUTLASS), "tma32", "tma64", "tma128"
    access           "row store", "column load", "ldmatrix.x1", "ldmatrix.x4", "float4 store", "cp.async",
                     "fragment store"
    more             step (which access in the tile), predict=True (first ask the learner for the count),
                     selected=[row, byte], banks=4 (a simplified memory)

    Raises `LayoutError`, which is a `LabError`, with the reason if a layout or an access is impossible.
    """
    return SwizzleExplorer(rows=rows, row_bytes=row_bytes, layout=layout, access=access, element=element, **more)
