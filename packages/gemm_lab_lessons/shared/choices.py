"""The base class of widgets with a few controls, a text, and a picture that Python redraws after each choice."""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress
from html import escape

from gemm_lab.notebook.widgets.asleep import live, show_beside
from gemm_look import theme
from gemm_look.card import card, mark
from gemm_look.palette import compact
from gemm_look.style import png
from gpu_simulator.errors import NotHere, SimulatorError
from gpu_simulator.hardware.data_sheets import GPUS

DPI = 110


class Choices:
    """The base class. Subclasses define `controls` and `choose`, and describe the choice in `text`, `good` and `card`.

    `what` says what the widget is. For an impossible choice, the reason is shown instead of the text, and the last
    valid picture stays.
    """

    what = ""

    def controls(self) -> list[list]:
        """Rows of (name, ipywidgets control). Each name is a parameter of `choose`."""
        raise NotImplementedError

    def choose(self, **values):
        """Make a choice. If it is impossible, raise `LabError` and keep the last one."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        raise NotImplementedError

    @property
    def good(self) -> bool:
        return True

    def card(self):
        """A matplotlib figure of the choice."""
        raise NotImplementedError

    def png(self) -> bytes:
        """The picture as the bytes of a PNG file with a palette."""
        return compact(png(self.card(), DPI))

    # ---- Display ----

    def _widget(self):
        import ipywidgets as widgets

        rows = self.controls()
        named = {name: control for row in rows for name, control in row}
        words = widgets.HTML(self._words())
        picture = widgets.Image(value=self.png(), layout=widgets.Layout(max_width="760px"))

        def changed(_) -> None:
            try:
                self.choose(**{name: control.value for name, control in named.items()})
            except SimulatorError as error:
                words.value = card(
                    f"{mark(False)} {escape(str(error))} The picture is still the last valid one.", theme.BAD
                )
                return
            words.value, picture.value = self._words(), self.png()

        for control in named.values():
            control.observe(changed, names="value")
        boxes = [
            widgets.HBox([control for _, control in row], layout=widgets.Layout(flex_flow="row wrap")) for row in rows
        ]
        return widgets.VBox([*boxes, words, picture])

    def _words(self) -> str:
        return card(
            ("" if self.good else f"{mark(False)} ") + escape(self.text), theme.NOTE if self.good else theme.BAD
        )

    def _repr_png_(self) -> bytes:
        return self.png()

    def __repr__(self) -> str:
        return self.text

    def _ipython_display_(self) -> None:
        # No picture inside HTML: GitHub drops it, and shows image/png.
        bundle = {"text/plain": repr(self)}
        with suppress(NotHere):
            bundle["image/png"] = b64encode(self.png()).decode()
        with suppress(Exception):  # without a widget front end, the still picture is shown
            bundle = {**live(self._widget()), **bundle}
        show_beside(bundle, self.what)


def slider(options: tuple[int, ...], value: int, name: str):
    """A slider over these options and the current value."""
    import ipywidgets as widgets

    return widgets.SelectionSlider(options=sorted({*options, value}), value=value, description=name)


def gpu_menu(key: str):
    """A menu of all GPUs with a data sheet. key: of the one chosen now."""
    import ipywidgets as widgets

    return widgets.Dropdown(options=[(g.name, key) for key, g in GPUS.items()], value=key, description="GPU")
