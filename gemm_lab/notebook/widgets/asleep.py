"""The words beside a live view for a notebook that is opened without its kernel, where the view is only an error.

They are an output of their own in front of the view, because JupyterLab shows “Error displaying widget: model not
found” in place of everything else that the output of a view holds. A live view hides them with the style `HIDE`.
"""

from __future__ import annotations

from html import escape
from typing import Any

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
        name = "" if always else f"{escape(what)} "
        words = tag("div", "muted", name + HOW, attributes={"class": ASLEEP})
        display({"text/plain": what, "text/html": f"<div>{always}{words}</div>"}, raw=True)
    display(bundle, raw=True)


def live(box: Any) -> dict:
    """The bundle of a box of ipywidgets, which is marked as a live view; {} where no front end has widgets."""
    import ipywidgets as widgets

    box.add_class(LIVE)
    style = widgets.HTML(f"<style>{HIDE}</style>", layout=widgets.Layout(display="none"))
    box.children = [*box.children, style]
    return box._repr_mimebundle_() or {}
