"""What the study of a shared array says, in words: the verdict, better layouts, and what the numbers rest on."""

from __future__ import annotations

import textwrap

from gpu_simulator.layouts.candidates import Padding
from gpu_simulator.layouts.trials import ArrayStudy

WIDTH = 108  # characters of a line of notes


def verdict(study: ArrayStudy) -> str:
    """The result of a study, in a sentence."""
    name = study.array.title
    if study.why_not:
        return f"{name}: no other layout was tried, because {study.why_not}."
    if not study.excess:
        return f"{name}: no bank conflicts, so there is nothing to gain from another layout."
    now = f"{study.total:,} wavefronts, {study.excess:,} more than the least possible"
    if not study.best:
        return f"{name}: {now}. None of the {study.tried} changes of its layout that were tried costs less."
    return f"{name}: {now}. Of the {study.tried} layouts that were tried, the best takes {study.best[0].total:,}."


def notes(study: ArrayStudy) -> list[str]:
    """What the numbers rest on, and how the C++ is meant; empty without a better layout."""
    if not study.best:
        return []
    widest, size = max(access.width for access in study.accesses), study.array.element_bytes
    layouts = [trial.layout for trial in study.best]
    codes = [layout.code for layout in layouts]
    found = [
        f"Every access to {study.array.name} in this launch, loads and stores, was moved to the new place of its "
        f"address and counted again with the simulator's model of the banks, so change all lines that use it. "
        f"An access of {widest} bytes stays in one piece and aligned."
    ]
    declared = [one for one in layouts if isinstance(one, Padding) and one.row_bytes == one.array.row_bytes]
    if declared:
        found.append("With another declaration (keep its alignment), the indices stay as they are.")
    cheapest = [trial.layout for trial in study.best if trial.total == study.best[0].total]
    if any(one in declared for one in cheapest) and not all(isinstance(one, Padding) for one in cheapest):
        found.append("A padding costs no more here than the best swizzle; the swizzle needs no more memory than now.")
    if any("column" in code for code in codes):
        found.append("row and column are the indices that you write now.")
    if any("(&" in code for code in codes):
        found.append("i is the number of an element in the whole array.")
    elif any("[i" in code for code in codes):
        where = f" from byte {study.array.offset:,} on" if study.array.offset else ""
        found.append(f"i is the index that you use now, in elements of {size} bytes{where}.")
    found.append("Instructions for the new index are not counted.")
    return found


def lines(study: ArrayStudy) -> list[str]:
    """Lines of text: the verdict, a row for each of the best layouts, and the notes in lines of `WIDTH` characters."""
    rows = [("layout", "in C++", "bytes", "wavefronts")]
    rows += [("as it is", "", f"{study.array.size:,}", f"{study.total:,}")]
    rows += [(t.layout.title, t.layout.code, f"{t.layout.bytes:,}", f"{t.total:,}") for t in study.best]
    first, second, third, fourth = (max(map(len, column)) for column in zip(*rows, strict=True))
    table = [f"  {a:<{first}}  {b:<{second}}  {c:>{third}}  {d:>{fourth}}" for a, b, c, d in rows]
    told = textwrap.wrap(" ".join(notes(study)), WIDTH, initial_indent="  ", subsequent_indent="  ")
    return [verdict(study), *(table if study.best else []), *told]
