"""All cases, by name."""

from __future__ import annotations

from functools import lru_cache

from gemm_results.errors import LabError
from tools.opcodes import arithmetic, bits, conversions, memory, tiles, warp
from tools.opcodes.case import Case


@lru_cache(maxsize=1)
def all_cases() -> dict[str, Case]:
    """{name: case}, in the order of the recording. Raises `LabError` if two cases have the same name."""
    found = {}
    for module in (arithmetic, bits, conversions, warp, memory, tiles):
        for one in module.cases():
            if one.name in found:
                raise LabError(f"Two cases are called {one.name}; give them different names.")
            found[one.name] = one
    return found


def case(name: str) -> Case:
    """The case with this name. Raises `LabError` for an unknown name."""
    if name not in all_cases():
        raise LabError(f"There is no case called {name}; `tools.opcodes.cases.all_cases()` lists them.")
    return all_cases()[name]
