"""Checks an answer as it is compiled for the other architectures that its rung is for.

The answer is judged in full as it is compiled for one architecture. Its text cannot ask for which one
(`answer_text`), but there may be ways that nobody has thought of. So it is compiled for all of them, and where the PTX
differs from that which was judged, it has to be right there too, at two by two tiles and one k tile more than stages:
result, hazards and work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gemm_lab.lab import Kernel
from gemm_lab.lab.on_simulator import smallest_size
from gemm_lab.notebook.judges.run_faults import FAULTS, first_hazard_of
from gemm_lab_classroom.judge.extra_work import extra_work
from gemm_lab_classroom.judge.special_launches import Size
from gemm_lab_classroom.judge.value_dependence import depends_on_values
from gpu_simulator.compiler import CompileError

# Lines of PTX that name the architecture, the compiler's version or places in the source, and comments.
_NAMES_ONLY = re.compile(r"^\s*\.(?:version|target|loc|file)\b.*$|//.*$", re.M)


def wrong_on_other_targets(
    answer: Kernel, judged: str, wanted: Mapping[str, Any], seed: int, sms: int | None = None
) -> str:
    """A sentence if the answer does not compile, or is wrong, for another architecture that its rung is for, else "".

    judged: the architecture for which it has been judged.   wanted: the criteria of the exercise.
    """
    m, n, k_tiles = smallest_size(answer)
    size = 2 * m, 2 * n, k_tiles // 2 * (answer.config.get("NUM_STAGES", 1) + 1)
    compiled = {}
    for arch in answer.spec.targets:
        try:
            compiled[arch] = answer.compile(arch)
        except CompileError as error:
            return f"Compiled for {arch}, which the rung is for as well: {error}"
    seen = {body(compiled[judged].ptx)} if judged in compiled else set()
    for arch in reversed(answer.spec.targets):  # of those with the same PTX, the newest
        text = body(compiled[arch].ptx)
        if text in seen:
            continue
        seen.add(text)
        if reason := _wrong_on(replace(answer, simulated_arch=arch), wanted, size, seed, sms):
            return f"Compiled for {arch}, which the rung is for as well: {reason}"
    return ""


def body(ptx: str) -> str:
    """What is executed of a PTX text: without its head, its comments and the places of the source."""
    return " ".join(_NAMES_ONLY.sub("", ptx.partition("\t.section")[0]).split())


def _wrong_on(answer: Kernel, wanted: Mapping[str, Any], size: Size, seed: int, sms: int | None) -> str:
    m, n, k = size
    where = f"At {m} × {n} × {k}"
    try:
        run = answer.run(n, m, k, seed=seed, backend="simulator", sms=sms)
        if not run.passed:
            return f"{where}: {run.message}"
    except FAULTS as fault:
        return f"{where}: {fault}"
    if hazards := first_hazard_of(run):
        return hazards[0]
    return depends_on_values(answer, run.compiled, wanted["region"]) or extra_work(run, wanted)
