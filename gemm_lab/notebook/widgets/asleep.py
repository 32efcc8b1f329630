"""The words beside a live view for a notebook that is opened without its kernel, where the view is only an error.

They are an output of their own in front of the view, because JupyterLab shows “Error displaying widget: model not
found” in place of everything else that the output of a view holds. A live view hides them with the style `HIDE`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from typing import Any

from gemm_lab.config import data_dir
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
        if stored := _picture(bundle.get("text/plain") or what):
            bundle = {"image/png": stored, **bundle}  # our extension of JupyterLab shows it where the view is an error
        name = "" if always else f"{escape(what)} "
        words = tag("div", "muted", name + HOW, attributes={"class": ASLEEP})
        display({"text/plain": what, "text/html": f"<div>{always}{words}</div>"}, raw=True)
    display(bundle, raw=True)


@lru_cache(maxsize=64)
def _picture(state: str) -> str:
    """The picture, as PNG in base64, that the series stores of a widget with this state in a line; "" without one."""
    words = json.dumps(state, ensure_ascii=False)
    for path in data_dir("notebooks").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        outputs = (
            (one for cell in json.loads(text)["cells"] for one in cell.get("outputs", ())) if words in text else ()
        )
        for data in (output.get("data", {}) for output in outputs):
            if "image/png" in data and "".join(data.get("text/plain", "")) == state:
                return "".join(data["image/png"])
    return ""


def live(box: Any) -> dict:
    """The bundle of a box of ipywidgets, which is marked as a live view; {} where no front end has widgets."""
    import ipywidgets as widgets

    box.add_class(LIVE)
    style = widgets.HTML(f"<style>{HIDE}</style>", layout=widgets.Layout(display="none"))
    box.children = [*box.children, style]
    return box._repr_mimebundle_() or {}
