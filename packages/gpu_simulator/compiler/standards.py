"""Which C++ standard a source is compiled with: the one that is asked for, or else the one that its code needs.

nvcc compiles C++17 unless it is told otherwise, and takes some of C++20 with it. NVRTC takes none of it, and crashes on
a concept.
"""

from __future__ import annotations

import re

from gpu_simulator.compiler.declarations import masked
from gpu_simulator.errors import ConfigError

STANDARDS = ("c++11", "c++14", "c++17", "c++20")
_CONCEPT = re.compile(r"\bconcept\s+(\w+)\s*=|[>)]\s*(requires)\b")
_OF_20 = re.compile(_CONCEPT.pattern + r"|\bconst(?:eval|init)\b|[{,]\s*\.[A-Za-z_]\w*\s*(?:=(?!=)|\{)")


def standard_for(source: str, wanted: str | None) -> str:
    """The standard to compile a source with. wanted: one of `STANDARDS`, or None.

    Without a wish it is C++17, or C++20 for a source with concepts, designated initialisers, consteval or constinit.
    Raises `ConfigError` for an unknown standard, and for one that does not have the concepts of the source.
    """
    if wanted is None:
        return "c++20" if _OF_20.search(masked(source)) else "c++17"
    if wanted not in STANDARDS:
        raise ConfigError(
            f"There is no C++ standard {wanted!r}; choose {', '.join(STANDARDS[:-1])} or {STANDARDS[-1]}."
        )
    if wanted != "c++20" and (found := _CONCEPT.search(masked(source))):
        what = f"the concept {found[1]}" if found[1] else "a requires clause"
        raise ConfigError(f"The source has {what}, which {wanted} does not know; choose c++20, or no standard.")
    return wanted
