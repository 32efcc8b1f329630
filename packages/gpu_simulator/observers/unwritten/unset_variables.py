"""Finds variables of a module that a kernel reads although nothing fills them: no source, no launch, no kernel."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

from gpu_simulator.observers.hazards import Hazard, hazard_at
from gpu_simulator.observers.severities import SUSPICIOUS
from gpu_simulator.ptx.demangle import source_name


def unset_variables(launch: Any, given: Container[str]) -> list[Hazard]:
    """A finding for each such variable that some thread has loaded. given: the names of those that the launch filled.

    C++ lets these variables begin as zeros, so it is only suspicious. A kernel that may write the variable as well,
    such as a counter of its own, is left in peace.
    """
    program, found = launch.program, []
    names = {name for _, _, name in program.global_variables}
    unset = [v for name, v in program.module.variables.items() if v.initial is None and not v.external and v.size]
    if not unset:
        return []
    ran = {item.site for block, runs in zip(program.blocks, launch.runs, strict=True) if runs for item in block.code}
    for variable in unset:
        uses = program.variable_uses.get(variable.name) if variable.name in names else None
        if uses is None or variable.name in given or (uses.written and variable.space != "const"):
            continue
        item, name = next((item for item in uses.loads if item.site in ran), None), source_name(variable.name)
        if item is not None and not _initialised(name, launch.files or {}):
            said = (
                f"{launch.describe(item)}: the kernel reads {name}, which is zeros here, because neither the source "
                "nor this launch fills it. A host program does so with cudaMemcpyToSymbol; give its contents by "
                f'symbols={{"{name}": array}}, in a terminal by --set {name}=VALUE.'
            )
            found.append(hazard_at(item, "unset variable", said, severity=SUSPICIOUS))
    return found


def _initialised(name: str, files: Mapping[str, str]) -> bool:
    """Whether the source gives a variable a value. PTX does not tell if that is zero."""
    plain = re.escape(name.rpartition("::")[2])
    declaration = re.compile(rf"__(?:constant|device)__\b[^;{{}}()=]*\b{plain}\s*(?:\[[^\]]*\]\s*)*[={{]")
    return any(declaration.search(text) for text in files.values())
