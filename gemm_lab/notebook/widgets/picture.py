"""The base class of the lab's live widgets, which say their state in one line of text."""

from __future__ import annotations

import anywidget
import traitlets

from gemm_lab.notebook.widgets.asleep import show_beside
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, shown
from gpu_simulator.errors import SimulatorError

# The Python type that a choice must have (integers are checked separately), and its description.
_KINDS = {
    traitlets.Int: ((), "a whole number"),
    traitlets.Unicode: (str, "a text in quotes"),
    traitlets.Bool: (bool, "True or False"),
}


class PicturedWidget(anywidget.AnyWidget):
    """A live widget. `what` says what it is, and `text` its state in one line, which a terminal prints.

    In a notebook that is stored by `tools.run_notebooks`, a screenshot of the live view takes its place.
    """

    what = ""
    pictured = traitlets.Dict().tag(sync=True)  # values that the screenshot shows in place of those of the state
    _shown = False  # whether the front end knows the widget

    def open(self) -> None:
        """Tell the front end of the widget with the state that it has when it is first shown.

        ipywidgets does so while the widget is created, with the default state, and sends what is set afterwards as
        changes. A front end that is still loading the widget can miss those.
        """
        if self._shown:
            super().open()

    @property
    def model_id(self) -> str:
        """The number under which the front end knows the widget, which it is told of now at the latest."""
        if self.comm is None:
            self._shown = True
            self.open()
        return super().model_id

    def plain(self, values: dict) -> dict:
        """The values of the widget's choices, with NumPy integers converted to Python ints.

        Raises `LabError` if a value has the wrong type.
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

    def __setattr__(self, name: str, value) -> None:
        """Set an attribute. Raises `LabError`, with the type that a choice must have, if `value` has another."""
        if self.has_trait(name):
            value = self.plain({name: value})[name]
        try:
            super().__setattr__(name, value)
        except SimulatorError:  # a widget's own refusal says more
            raise
        except traitlets.TraitError:
            raise LabError(f"{name} must be {_described(self.traits()[name])}, not {shown(value)}.") from None

    @property
    def text(self) -> str:
        """The state in one line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def _repr_mimebundle_(self, **kwargs) -> dict:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        data = dict(bundle[0] if isinstance(bundle, tuple) else bundle)
        data["text/plain"] = self.text
        return data

    def _ipython_display_(self) -> None:
        show_beside(self._repr_mimebundle_(), self.what)


def _described(trait: traitlets.TraitType) -> str:
    """What a trait takes, in words, such as "a list of whole numbers"."""
    if isinstance(trait, traitlets.List) and isinstance(trait._trait, traitlets.Int):
        return "a list of whole numbers"
    return trait.info()
