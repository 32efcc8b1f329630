"""`lab.figure("banks_and_wavefronts")`: shows a picture of the series from the file that is shipped with it."""

from __future__ import annotations

import difflib
from base64 import b64encode
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from gemm_lab.config import data_dir
from gemm_look.theme import tag
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked, shown

WIDTH = 760  # pixels on the screen; no wider than a cell


@dataclass(frozen=True)
class Picture:
    """A PNG file with a caption, which a notebook displays."""

    name: str
    caption: str = ""
    path: Path = field(default=Path(), repr=False)

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict[str, str], dict[str, dict]]:
        """The picture as image/png, which every viewer shows; GitHub's drops a picture that is part of an HTML page."""
        data = b64encode(self.path.read_bytes()).decode()
        look = {"width": WIDTH, "alt": self.caption or self.name}
        return {"image/png": data, "text/plain": f"[{self.name}] {self.caption}".strip()}, {"image/png": look}

    def _ipython_display_(self) -> None:
        """Show the picture and, as an output of its own, its caption."""
        from IPython.display import display

        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        if self.caption:
            caption = tag("div", "caption", escape(self.caption))
            display({"text/html": caption, "text/plain": self.caption}, raw=True)


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
