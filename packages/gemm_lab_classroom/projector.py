"""`%gemm_lab_projector on`: larger letters in cards, code cells, text and widgets, for a lecture hall; `off` ends it.

`%load_ext gemm_lab_classroom.projector` brings it.

The sizes are variables of JupyterLab and of the widgets. Cards have sizes in em, so they follow the page.
"""

from __future__ import annotations

from gpu_simulator.argument_checks import shown
from gpu_simulator.errors import ConfigError

NAME, SCALE = "gemm_lab_projector", 1.5
BASE = {"code": 13, "content": 14, "widgets": 13}  # pixels, JupyterLab's own
ON = f"""<style>
.jp-Notebook, .jp-NotebookPanel {{
  --jp-code-font-size: {BASE["code"] * SCALE:g}px;
  --jp-content-font-size1: {BASE["content"] * SCALE:g}px;
  --jp-widgets-font-size: {BASE["widgets"] * SCALE:g}px;
  --jp-widgets-inline-height: {28 * SCALE:g}px;
}}
.jp-Notebook .cm-editor {{ font-size: {BASE["code"] * SCALE:g}px; }}
.jp-Notebook .gemm-lab {{ zoom: {SCALE}; }}
</style>"""


def projector(words: str) -> bool:
    """Display or take back the style sheet. Returns whether it is on; raises `ConfigError` for other words."""
    from IPython.display import display, update_display

    chosen = words.strip().lower()
    if chosen not in ("on", "off"):
        raise ConfigError(f"%{NAME} is used as %{NAME} on, or %{NAME} off, not with {shown(words.strip())}.")
    data = {"text/html": ON if chosen == "on" else "", "text/plain": f"projector mode: {chosen}"}
    update_display(data, raw=True, display_id=NAME)  # takes back what an earlier cell has displayed
    if chosen == "on":
        display(data, raw=True, display_id=NAME)
    return chosen == "on"


def load_ipython_extension(ipython) -> None:
    """For `%load_ext gemm_lab_classroom.projector`: add the magic."""

    def magic(line: str) -> None:
        projector(line)

    magic.__doc__ = __doc__
    ipython.register_magic_function(magic, magic_kind="line", magic_name=NAME)
