"""What every widget of the lab is besides its live view: words, and a still picture drawn by Python."""

from __future__ import annotations

from base64 import b64encode

import anywidget
import traitlets

from gemm_lab.plots.palette import compact
from gemm_lab.plots.style import Card, drawn, png
from gpu_simulator.argument_checks import as_whole, shown
from gpu_simulator.errors import LabError

DPI = 100
# What a choice has to be, beside a whole number, and in words.
_KINDS = {
    traitlets.Int: ((), "a whole number"),
    traitlets.Unicode: (str, "a text in quotes"),
    traitlets.Bool: (bool, "True or False"),
}
VIEW = "application/vnd.jupyter.widget-view+json"


class PicturedWidget(anywidget.AnyWidget):
    """A live widget whose output also carries its picture and its text.

    A front end without widgets, a stored notebook and an exported page show the picture; a terminal prints the text.
    Subclasses draw `card()` from their state and say it in `text`.
    """

    def plain(self, values: dict) -> dict:
        """`values` of the widget's choices as they are kept; a `LabError` for a text where a number belongs, and so on.

        NumPy's whole numbers become Python's.
        """
        kept = {}
        for name, value in values.items():
            trait = self.traits().get(name)
            if isinstance(trait, traitlets.Int) and (number := as_whole(value)) is not None:
                value = number
            elif type(trait) in _KINDS and not (value is None and trait.allow_none):
                kind, words = _KINDS[type(trait)]
                if not isinstance(value, kind):
                    raise LabError(f"{name} must be {words}, not {shown(value)}.")
            kept[name] = value
        return kept

    def card(self) -> Card:
        """The state as a matplotlib figure."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The state in words and characters."""
        raise NotImplementedError

    def png(self) -> bytes:
        """The still picture, as PNG bytes with a palette."""
        return compact(png(drawn(self.card)(), DPI))

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def _repr_mimebundle_(self, **kwargs) -> dict:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        data = dict(bundle[0] if isinstance(bundle, tuple) else bundle)
        data["text/plain"] = self.text
        data["image/png"] = b64encode(self.png()).decode()
        return data
