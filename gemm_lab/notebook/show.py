"""`lab.figure("banks_and_wavefronts")`: shows a picture of the series from the file that is shipped with it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from gemm_lab.cards.card import picture
from gemm_lab.cards.theme import tag
from gemm_lab.config import data_dir
from gpu_simulator.argument_checks import checked, shown
from gpu_simulator.errors import LabError


@dataclass(frozen=True)
class Picture:
    """A PNG file with a caption, which a notebook displays."""

    name: str
    caption: str = ""
    path: Path = field(default=Path(), repr=False)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from base64 import b64encode

        data = b64encode(self.path.read_bytes()).decode()
        caption = tag("div", "caption", escape(self.caption)) if self.caption else ""
        page = picture(data, self.caption or self.name) + caption
        return {"text/html": page, "text/plain": f"[{self.name}] {self.caption}"}


@checked
def figure(name: str, caption: str = "") -> Picture:
    """A picture by its name, with a caption below it. Raises `LabError` for an unknown name, with similar names."""
    folder = data_dir("images")
    names = sorted(path.stem for path in folder.glob("*.png"))
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}?" if near else f"there are, for example, {', '.join(names[:5])}."
        raise LabError(f"There is no picture {shown(name)}; {hint}")
    return Picture(name, caption, folder / f"{name}.png")
