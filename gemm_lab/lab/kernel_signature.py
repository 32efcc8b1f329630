"""Checks that the entry of a learner's whole kernel declares its block size and the arguments of its rung."""

from __future__ import annotations

import re

from gemm_lab.catalog import MATRICES, Problem
from gemm_lab.lab.launchable import Launchable
from gpu_simulator.compiler import Compiled
from gpu_simulator.errors import LaunchError

C_NAMES = {"f16": "half", "bf16": "__nv_bfloat16", "f32": "float"}
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(?P<type>\w+)[^,\[]*?\w+(?:\[(?P<bytes>\d+)\])?\s*$")


def require_form(kernel: Launchable, compiled: Compiled) -> None:
    """Raise `LaunchError` if a source of the learner's own cannot be launched as its rung is.

    The message says how to declare its parameters.
    """
    if kernel.whole is None:
        return
    problem = kernel.problem
    found, wanted = parameters(compiled), [_wanted(name, problem) for name in problem.arguments]
    declared = f"{compiled.entry}({', '.join(words for _, words in wanted)})"
    if not compiled.threads:
        raise LaunchError(
            f"{compiled.entry} does not say how many threads its blocks have. Write __launch_bounds__(…) between void "
            f"and {declared}, as the rung does."
        )
    if len(found) != len(wanted) or any(one not in known for one, (known, _) in zip(found, wanted, strict=True)):
        raise LaunchError(
            f"The parameters of {compiled.entry} do not match the arguments that it is launched with. Declare it as "
            f"{declared}."
        )


def parameters(compiled: Compiled) -> list[str]:
    """The PTX types of the entry's parameters, in order, such as "u64" or, for a struct, "b8[128]"."""
    entry = re.search(rf"\.entry\s+{re.escape(compiled.entry)}\s*(?:\(([^)]*)\))?", compiled.ptx)
    inside = entry[1] or "" if entry else ""
    matches = [_PARAMETER.search(" ".join(item.split())) for item in inside.split(",") if item.strip()]
    return [match["type"] + (f"[{match['bytes']}]" if match["bytes"] else "") for match in matches if match]


def _wanted(name: str, problem: Problem) -> tuple[set[str], str]:
    """The PTX types that the argument `name` may have, and its declaration in CUDA C++."""
    if name in MATRICES:
        constant, kind = "const " * (name in "abc"), problem.dtype_out if name in "cd" else problem.dtype_in
        return {"u64", "s64", "b64"}, f"{constant}{C_NAMES.get(kind, kind)}* gmem_{name}"
    if name in "mnk":
        return {"u32", "s32", "b32"}, f"int {name.upper()}"
    if name in ("alpha", "beta"):
        return {"f32"}, f"float {name}"
    return {"b8[128]"}, f"const __grid_constant__ CUtensorMap {name}"
