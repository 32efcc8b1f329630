"""The fragment map: which lane and register of a warp hold which element of A, B and C of one `mma.sync`.

from gemm_lab.notebook.widgets import fragments
fragments("m16n8k16", "bf16", lane=5)
"""

from __future__ import annotations

import traitlets

from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.mma_layouts import FragmentLoad, Mma, fragment_load

TRAITS = ("shape", "dtype", "accumulator", "stored", "lane", "ldmatrix")


class FragmentMap(PicturedWidget):
    """The widget that `fragments` creates. The choices are attributes, which follow the live view and change it.

    `set` sets several choices at once, and `change` makes another map without touching this one. `mma` is the `Mma`
    that is shown, and `holds` has the elements in the registers of the chosen lane. A choice that does not exist raises
    `LabError` and changes nothing.
    """

    what = "The fragment map: which lane and register hold which element of an mma."
    _esm = esm(__file__)
    _css = css()

    shape = traitlets.Unicode("m16n8k16").tag(sync=True)
    dtype = traitlets.Unicode("bf16").tag(sync=True)
    accumulator = traitlets.Unicode("f32").tag(sync=True)
    stored = traitlets.Unicode("column-major").tag(sync=True)
    lane = traitlets.Int(5).tag(sync=True)
    ldmatrix = traitlets.Bool(True).tag(sync=True)

    _checked = False  # True while `set` sets several choices, which need not be possible one by one

    def __init__(self, **values):
        super().__init__()
        self.set(**values)

    def change(self, **values) -> FragmentMap:
        """A new map with some choices changed; this one stays as it is. Raises `LabError` for impossible choices."""
        same = {name: getattr(self, name) for name in TRAITS}
        if {"shape", "dtype"} & set(values):
            same.pop("accumulator")  # that of the new shape and type, unless it is named
        return FragmentMap(**{**same, **values})

    def set(self, **values) -> FragmentMap:
        """Set several choices at once; returns the widget. Raises `LabError` with the reason if they are impossible."""
        if unknown := set(values) - set(TRAITS):
            raise LabError(f"The fragment map has no choice “{min(unknown)}”; it has {', '.join(TRAITS)}.")
        values = self.plain(values)
        mma = self._resolve(values)
        self._checked = True
        try:
            with self.hold_trait_notifications():
                for name, value in {**values, "accumulator": mma.accumulator}.items():
                    setattr(self, name, value)
        finally:
            self._checked = False
        return self

    @traitlets.validate(*TRAITS)
    def _possible(self, proposal):
        if not self._checked and not self._cross_validation_lock:
            self._resolve({"accumulator": self.accumulator, proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    def _resolve(self, values: dict) -> Mma:
        chosen = {name: values.get(name, getattr(self, name)) for name in TRAITS}
        mma = Mma(chosen["shape"], chosen["dtype"], values.get("accumulator"))
        if not 0 <= chosen["lane"] < 32:
            raise LabError(f"A warp has the lanes 0 to 31, not {chosen['lane']}.")
        if chosen["stored"] not in ("column-major", "row-major"):
            raise LabError(f"B is stored column-major or row-major in shared memory, not “{chosen['stored']}”.")
        if chosen["stored"] == "row-major":
            fragment_load(mma, "B", "row-major")
        return mma

    # ---- What it shows ----

    @property
    def mma(self) -> Mma:
        return Mma(self.shape, self.dtype, self.accumulator)

    @property
    def holds(self) -> dict[str, list[tuple[int, int]]]:
        """Register name -> [(row, column) of each element], for the chosen lane: {"a0": [(1, 2), (1, 3)], …}."""
        return {
            f"{operand.lower()}{register}": [tuple(place) for place in elements.tolist()]
            for operand in "ABC"
            for register, elements in enumerate(self.mma.coordinates(operand)[self.lane])
        }

    def load(self, operand: str) -> FragmentLoad | None:
        """The ldmatrix that loads the fragments of A or B; None if there is none, or if the map leaves it out."""
        if not self.ldmatrix:
            return None
        try:
            return fragment_load(self.mma, operand, self.stored if operand == "B" else "row-major")
        except SimulatorError:
            return None

    @property
    def text(self) -> str:
        held = ", ".join(f"{name} {name[0].upper()}[{_span(places)}]" for name, places in self.holds.items())
        return f"Fragment map: mma.sync.{self.shape}.{self.accumulator}.{self.dtype}, lane {self.lane} holds {held}"


def _span(places: list[tuple[int, int]]) -> str:
    """The rows and the columns of some elements: "9, 2–3"."""
    ends = ((min(numbers), max(numbers)) for numbers in zip(*places, strict=True))
    return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in ends)


@checked
def fragments(shape: str = "m16n8k16", dtype: str = "bf16", lane: int = 5, **more) -> FragmentMap:
    """Explore the fragments of one mma.sync.

    shape, dtype  any dense `mma.sync`, such as "m16n8k8" with "f16" or "m16n8k32" with "s8"
    lane          the lane whose elements are highlighted
    more          accumulator ("f32", "f16", …), stored ("column-major" or "row-major": how B is stored),
                  ldmatrix (False leaves out which lane gives the address of which row to ldmatrix)

    Raises `LabError` for a combination that does not exist; the message lists those that do.
    """
    return FragmentMap(shape=shape, dtype=dtype, lane=lane, **more)
