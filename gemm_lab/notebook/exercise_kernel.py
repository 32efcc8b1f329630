"""The whole kernel around the region that a learner edits: the region is lit, and its lines have the cell's numbers.

An exercise shows the text that its cell in the notebook hands out, because the region in the kernel's file can be the
solution.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from gemm_lab import catalog
from gemm_lab.cards.kernel_card import edited_source
from gemm_lab.lab import Kernel
from gemm_lab.notebook.cells import Line, parse_line
from gemm_lab.notebook.judges.cuda_tokens import tokens
from gemm_lab.notebook.later_exercises import hidden_lines, later_than, listing_without, not_solved
from gemm_lab.notebook.unbound import session_notebook
from gemm_lab.notebook_files import cells_of_the_series
from gpu_simulator.errors import SimulatorError

MISSING = "// (the text of your cell)"


def whole_kernel(name: str, made: Kernel) -> str:
    """HTML: the kernel of the exercise `name`, folded, with the edited region lit; "" if no region of it is edited.

    Regions that a later exercise of the same notebook asks for are left out.
    """
    if not made.edits:
        return ""
    return edited_source(made.spec.file, listing_without(made, later_than(name)), list(made.edits))


def kernel_of_exercise(name: str, criteria: Mapping[str, Any]) -> Kernel:
    """The kernel of an exercise with the text that its cell hands out in its region.

    If no notebook hands out a text, a comment says that the text of the cell belongs there.
    """
    line, text = handed_out(name)
    settings = line.settings if line else {}
    spec = catalog.kernel(criteria["kernel"])  # `lab.kernel` would ask for the GPU, and this is shown
    return Kernel(spec, spec.configure(None, **settings)).edit(first_line=2, **{criteria["region"]: text or MISSING})


def solutions_ahead(made: Kernel) -> dict[tuple[str, int], str]:
    """{(file, line number): exercise} of the lines of a kernel that solve an exercise which lies ahead of the reader.

    These are the exercises of the notebook that the session runs and of later ones, without those that are solved. A
    region whose text in the file is handed out as it is, such as the beginning of a change, solves nothing.
    """
    number = session_notebook()
    if not number or made.whole:
        return {}
    ahead, regions = not_solved(made.name, number), made.spec.regions
    solving = {r: name for r, name in ahead.items() if tokens(regions[r].text) != tokens(handed_out(name)[1])}
    return hidden_lines(made, solving)


@lru_cache(maxsize=64)
def handed_out(name: str) -> tuple[Line | None, str]:
    """The `%%kernel … --exercise` line of an exercise's cell, and the text below it; (None, "") if there is none.

    The cell is the first of its kind after the one that contains `lab.exercise("NAME")`.
    """
    texts = [text for kind, text in cells_of_the_series().get(name[:2], ()) if kind == "code"]
    begin = next((place for place, text in enumerate(texts) if f'lab.exercise("{name}")' in text), len(texts))
    for text in texts[begin:]:
        first, _, below = text.partition("\n")
        if first.startswith("%%kernel ") and "--exercise" in first.split():
            with suppress(SimulatorError):
                return parse_line(first.removeprefix("%%kernel ")), below.rstrip("\n")
            break
    return None, ""
