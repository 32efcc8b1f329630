"""The rules of a grade, in the order in which they are asked; `judge()` of gemm_lab gets them as an argument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gemm_lab.lab import Kernel
from gemm_lab.notebook.judges.kernel_judge import Rules
from gemm_lab.notebook.judges.run_faults import FAULTS
from gemm_lab_classroom.judge.answer_text import refusals
from gemm_lab_classroom.judge.drawn_sizes import LARGE_K, drawn_sizes, long_sizes
from gemm_lab_classroom.judge.extra_work import extra_work, other_shares, tensor_products
from gemm_lab_classroom.judge.float_addresses import address_in_floats
from gemm_lab_classroom.judge.machine_sizes import too_much_local_memory, wrong_with_many_blocks
from gemm_lab_classroom.judge.offset_widths import narrow_offset
from gemm_lab_classroom.judge.other_targets import wrong_on_other_targets
from gemm_lab_classroom.judge.special_launches import wrong_with_special_values
from gemm_lab_classroom.judge.value_dependence import depends_on_values
from gpu_simulator.codegen.program import program_of
from gpu_simulator.compiler import Compiled


class StrictRules(Rules):
    """See CLASSROOM.md, "What a grade asks beyond a self-check"."""

    def of_text(self, text: str, first_line: int) -> list[str]:
        return refusals(text, first_line)

    def of_compiled(self, answer: Kernel, compiled: Compiled) -> str:
        if program_of(compiled.ptx, compiled.entry).frames:
            return "A function in it calls itself. No part of a matrix product needs that: write a loop."
        return too_much_local_memory(answer, compiled) or address_in_floats(compiled)

    def of_result(self, run: Any, wanted: Mapping[str, Any], seed: int, number: int) -> str:
        answer, compiled, sms = run.kernel, run.compiled, wanted.get("sms")
        drawn = drawn_sizes(answer, wanted, seed)
        if number:  # all of them with the first configuration, the large k with the others as well
            drawn = drawn[LARGE_K : LARGE_K + 1]
        second = number == min(1, len(wanted.get("configs", [{}])) - 1)  # it has three stages where the first has two
        longest = long_sizes(answer, seed) if second else []
        sizes = [*drawn, *map(tuple, wanted["sizes"])]
        return (
            _wrong_at([*drawn, *longest], answer, seed, sms)
            or wrong_with_special_values(answer, compiled, sizes, seed, sms)
            or ("" if number else narrow_offset(answer, compiled))
            or wrong_with_many_blocks(answer, compiled)
            or depends_on_values(answer, compiled, wanted["region"])
            or _by_other_means(run)
            or other_shares(run)
        )

    def of_work(self, run: Any, wanted: Mapping[str, Any], seed: int, number: int) -> str:
        if reason := extra_work(run, wanted):
            return reason
        if number:
            return ""
        return wrong_on_other_targets(run.kernel, run.compiled.arch, wanted, seed, wanted.get("sms"))


def _wrong_at(sizes: list[tuple[int, int, int]], answer: Kernel, seed: int, sms: int | None) -> str:
    """A sentence if the answer is wrong, or faults, at one of these sizes (m, n, k), else ""."""
    for number, (m, n, k) in enumerate(sizes):
        try:
            run = answer.run(n, m, k, seed=seed + number, backend="simulator", sms=sms, counted=False)
        except FAULTS as fault:
            return f"At {m} × {n} × {k}: {fault}"
        if not run.passed:
            return f"At {m} × {n} × {k}: {run.message}"
    return ""


def _by_other_means(run: Any) -> str:
    """A sentence if the rung multiplies on the tensor cores and the answer computes its result elsewhere; else ""."""
    ptx = run.kernel.unedited().compile_as_taught().ptx
    if not re.search(r"^\s*(?:@\S+\s+)?(?:wmma\.mma|mma|wgmma\.mma_async)\.", ptx, re.M):
        return ""
    done, needed = tensor_products(run.report), run.m * run.n * run.k
    if done >= needed:
        return ""
    return (
        f"At {run.m} × {run.n} × {run.k} the tensor cores did {done:,} of {needed:,} multiply-adds: the result is "
        "right, but something else computed it."
    )
