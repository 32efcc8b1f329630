"""The words beside a live view for a notebook that is opened without its kernel, where the view is only an error.

They are an output of their own in front of the view, because JupyterLab shows “Error displaying widget: model not
found” in place of everything else that the output of a view holds. A live view hides them with the style `HIDE`.
"""

from __future__ import annotations

from functools import lru_cache
from html import escape
from itertools import pairwise
from typing import Any

from gemm_lab.notebook_files import notebooks_of, stored_cells
from gemm_look.theme import tag

VIEW = "application/vnd.jupyter.widget-view+json"
ASLEEP, LIVE = "gemm-lab-asleep", "gemm-lab-live"  # classes: of the words, and of a live view without `look.css`
HIDE = f".jp-OutputArea-child:has(+ .jp-OutputArea-child :is(.gemm-lab, .{LIVE})) .{ASLEEP} {{ display: none; }}"
HOW = (
    "If what follows is a picture that does not react, or an error, the notebook is not running: click into this cell, "
    "choose <i>Run → Run All Above Selected Cell</i>, then press <kbd>Shift+Enter</kbd>."
)


def show_beside(bundle: dict, what: str, always: str = "") -> None:
    """Display `what` with the way to bring a view back, and then the view; only the bundle if there is no view in it.

    bundle: of the view.   what: its name and its purpose, as text.   always: HTML that is shown in place of `what`, and
    also where the view lives.
    """
    from IPython.display import display

    if VIEW in bundle:
        if stored := _pictures().get(bundle.get("text/plain") or what):
            bundle = {"image/png": stored, **bundle}  # our extension of JupyterLab shows it where the view is an error
        name = "" if always else f"{escape(what)} "
        words = tag("div", "muted", name + HOW, attributes={"class": ASLEEP})
        display({"text/plain": what, "text/html": f"<div>{always}{words}</div>"}, raw=True)
    display(bundle, raw=True)


@lru_cache(maxsize=1)
def _pictures() -> dict[str, str]:
    """The pictures that the series stores of its widgets, as PNG in base64, by the state of each in a line."""
    found = {}
    for cell in (cell for path in notebooks_of("") for cell in stored_cells(path)):
        outputs = [output.get("data", {}) for output in cell.get("outputs", ())]
        for words, view in pairwise(outputs):
            if ASLEEP in "".join(words.get("text/html", "")) and "image/png" in view:
                found["".join(view.get("text/plain", ""))] = "".join(view["image/png"])
    return found


def live(box: Any) -> dict:
    """The bundle of a box of ipywidgets, which is marked as a live view; {} where no front end has widgets."""
    import ipywidgets as widgets

    box.add_class(LIVE)
    style = widgets.HTML(f"<style>{HIDE}</style>", layout=widgets.Layout(display="none"))
    box.children = [*box.children, style]
    return box._repr_mimebundle_() or {}
