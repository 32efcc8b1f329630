"""The judge of a kernel exercise: exact at every size, without hazards, within its memory, with the counts asked for.

Every criterion is deterministic and the same on every machine: it runs on the emulator, for the GPU and with the tiles
that the ladder is taught with, and with inputs that one number, the seed, decides. Where there is a GPU that the kernel
is written for, it has the last word: what is right here has to be right there.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.backends import resolve_backend
from gemm_lab.notebook.judges.answer_text import refusals
from gemm_lab.notebook.judges.code_criteria import CODE_CRITERIA, judge_code
from gemm_lab.notebook.judges.cuda_tokens import normalised
from gemm_lab.notebook.judges.extra_work import extra_work, other_shares, tensor_products
from gemm_lab.notebook.judges.fragment_check import explain_fragments
from gemm_lab.notebook.judges.unusual_values import wrong_at
from gpu_runner import KernelFault, KernelHang
from gpu_simulator import BudgetExceeded, Deadlock, MbarrierFault, MemoryFault
from gpu_simulator.compiler import CompileError
from gpu_simulator.errors import LabError, NotJudged
from gpu_simulator.faults import ClusterFault, TensorMemoryFault, WarpgroupFault

# A kernel that does not come to its end.
FAULTS = (MemoryFault, MbarrierFault, ClusterFault, WarpgroupFault, TensorMemoryFault, Deadlock, BudgetExceeded)


@dataclass
class Judgement:
    """What the judge found. `reasons` refuse the answer; none: it is right.

    exact: right at every size and without a hazard, so that only counts can be missed: `missed` of `asked`.
    """

    facts: list[tuple[str, str]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    exact: bool = True
    missed: int = 0
    asked: int = 0
    runs: list[tuple[str, Any]] = field(default_factory=list, repr=False)  # (settings in words, the last run with them)


def judge(answer: Kernel, wanted: Mapping[str, Any], seed: int = 0) -> Judgement:
    """Judge the learner's text for the region `wanted["region"]`, with the settings of the exercise.

    seed: decides all inputs; each of `wanted["sizes"]` gets other ones. If it is not 0, `drawn_sizes` come first.
    """
    edit = answer.edits[wanted["region"]]
    if reasons := refusals(edit.text, edit.first_line):
        return Judgement(reasons=reasons, exact=False)
    base = kernel(wanted["kernel"])
    # The text that was read is the text that is compiled; what is emulated and what is counted is one binary.
    answer = replace(
        answer,
        edits={wanted["region"]: replace(edit, text=normalised(edit.text))},
        config=base.spec.configure(),
        emulated_arch=wanted.get("arch"),
    )
    found = Judgement([("sizes", str(len(wanted["sizes"])))])
    for settings in wanted.get("configs", [{}]):  # one text for several tiles
        where = "".join(f"With {name} = {value}: " for name, value in settings.items())
        _judge_run(found, answer(**settings), wanted, settings, where, seed)
        if not found.exact:
            return found
    for where, run in found.runs:  # before the machine code, which such a branch changes in other ways
        if reason := other_shares(run):
            found.exact, found.reasons = False, [where + reason]
            return found
    _judge_machine_code(found, wanted)
    if found.reasons:
        return found
    for where, run in found.runs:
        if reason := extra_work(run, wanted):
            found.exact, found.reasons = False, [where + reason]
            return found
    if reason := _wrong_here(replace(answer, config=base.config), wanted, seed):
        found.exact, found.reasons = False, [reason]
    return found


def _judge_machine_code(found: Judgement, wanted: Mapping[str, Any]) -> None:
    """Add to `found` what the machine code of every configuration shows; a count that several miss is missed once."""
    missed: dict[str, str] = {}
    for where, run in found.runs:
        rung = run.kernel.unedited().compile_as_taught()
        facts, reasons = judge_code(run.compiled, rung, wanted)
        found.facts += [fact for fact in facts if fact not in found.facts]
        for name, reason in reasons.items():
            missed.setdefault(name, where + reason)
    found.reasons += missed.values()
    found.missed += len(missed)
    found.asked += len(set(wanted) & set(CODE_CRITERIA))


def _wrong_here(answer: Kernel, wanted: Mapping[str, Any], seed: int) -> str:
    """A sentence if what is right on the emulator is wrong on the GPU here; "" without a GPU that can tell."""
    if resolve_backend(None) != "gpu" or not answer.runs_here():
        return ""
    m, n, k = wanted["sizes"][-1]
    try:
        run = answer.run(n, m, k, seed=seed, timed=False, counted=False, backend="gpu")
    except (KernelFault, KernelHang) as fault:
        return f"Right on the emulator; on this GPU, at {m} × {n} × {k}: {fault}"
    except NotJudged:
        raise
    except LabError:  # it is busy, or its tiles are larger than this size: it has nothing to say
        return ""
    return "" if run.passed else f"Right on the emulator, and wrong on this GPU: at {m} × {n} × {k}, {run.message}"


def _judge_run(
    found: Judgement, answer: Kernel, wanted: Mapping[str, Any], settings: Mapping[str, int], where: str, seed: int
) -> None:
    """Add to `found` what one configuration shows; a wrong result, a hazard or too much memory end it."""

    def refuse(*reasons: str) -> None:
        found.exact = False
        found.reasons[:] = reasons

    # Persistent blocks as on a GPU of so many multiprocessors: few tiles already come one after the other.
    limit, sms = wanted.get("shared_bytes"), wanted.get("sms")
    try:
        compiled = answer.compile_as_taught()
    except CompileError as error:
        if not (sizes := _TOO_MUCH_SHARED.search(str(error))):
            raise
        used, most = (int(size.replace(",", "")) for size in sizes.groups())
        return refuse(
            f"It uses {used:,} bytes of shared memory; a block may declare {most:,} here"
            + (f", and {limit:,} are enough." if limit else ".")
        )
    if limit is not None and compiled.smem > limit:
        return refuse(f"It uses {compiled.smem:,} bytes of shared memory; {limit:,} are enough.")
    for number, (m, n, k) in enumerate([*drawn_sizes(answer, wanted, seed), *wanted["sizes"]]):
        try:
            run = answer.run(n, m, k, seed=seed + number, backend="emulator", sms=sms)
        except FAULTS as fault:
            return refuse(f"{where}At {m} × {n} × {k}: {fault}")
        if not run.passed:
            why = explain_fragments(answer) if wanted.get("fragments") else []
            return refuse(f"{where}At {m} × {n} × {k}: {run.message}", *why, *_hazards(run))
    deepest = max(wanted["sizes"], key=lambda size: (size[2], -size[0] * size[1]))
    try:
        least = min(wanted["sizes"], key=math.prod)
        reason = wrong_at(answer, compiled, deepest, seed, sms=sms)
        reason = reason or wrong_at(answer, compiled, least, seed, tiny=True, sms=sms)
    except FAULTS as fault:
        reason = str(fault)
    if reason:
        return refuse(where + reason)
    if reasons := _hazards(run):
        return refuse(f"{where}The result is right on the emulator, by luck.", *reasons)
    counts = {COUNTS[key]: bound for key, bound in wanted.items() if key in COUNTS}
    if reason := _by_other_means(run):
        return refuse(where + reason)
    named = "".join(f", {name} = {value}" for name, value in settings.items())
    found.facts.append(("shared memory" + named, f"{compiled.smem:,} B"))
    for count, bound in counts.items():
        value = getattr(run, count.attribute)
        found.facts.append((count.label + named, f"{value:.2f}"))
        found.asked += 1
        if (value < bound * 0.999) if count.least else (value > bound * 1.001):
            found.missed += 1
            found.reasons.append(f"{where}At {m} × {n} × {k}: " + _said(count.says, value, bound))
    found.runs.append((where, run))
    return None


# How far beyond the sizes of an exercise those go that are drawn: at least twice its largest k, m or n, or five block
# tiles; at most so far as these multiply-adds and this edge allow. Small factors are drawn as often as large ones.
TWICE, BLOCKS, MOST_PRODUCTS, LONGEST = 2, 5, 2**24, 8192


def drawn_sizes(answer: Kernel, wanted: Mapping[str, Any], seed: int) -> list[tuple[int, int, int]]:
    """Five more sizes for a seed that is not 0, because those of the exercise are no secret.

    One is at most a block tile in each direction, one within the exercise's own sizes. The others go beyond them as far
    as the comment above says: one has the least m and n and is deep, and of two with the least k one is tall and one is
    wide.
    """
    if seed == 0:
        return []
    draw, steps = random.Random(seed), [*answer.spec.size_multiples(answer.config).values()]
    most = [max(size[axis] for size in wanted["sizes"]) for axis in range(3)]
    least = [min(size[axis] for size in wanted["sizes"]) for axis in range(3)]

    def beyond(axis: int, low: int) -> tuple[int, int, int]:
        size, high = list(least), least[axis] * MOST_PRODUCTS // math.prod(least)
        edge = low * (max(min(high, LONGEST), 2 * low) / low) ** draw.random()
        size[axis] = steps[axis] * max(1, round(edge / steps[axis]))
        return tuple(size)

    within = tuple(step * draw.randint(1, max(1, edge // step)) for step, edge in zip(steps, most, strict=True))
    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
    block = [max(answer.config.get(name, 1), step) for name, step in zip(names, steps, strict=True)]
    tiny = tuple(step * draw.randint(1, edge // step) for step, edge in zip(steps, block, strict=True))
    tall, wide = (beyond(axis, max(TWICE * most[axis], BLOCKS * block[axis])) for axis in (0, 1))
    return [within, tiny, beyond(2, TWICE * most[2]), tall, wide]


_TOO_MUCH_SHARED = re.compile(r"too much shared data \(([\d,]+) bytes, ([\d,]+) max\)")


def _said(says: str, value: float, bound: float) -> str:
    """The sentence of a count, with as many digits as it takes to tell the value from its bound."""
    digits = next((digits for digits in range(2, 7) if f"{value:.{digits}f}" != f"{bound:.{digits}f}"), 6)
    return says.replace("{found:.2f}", f"{{found:.{digits}f}}").format(found=value, wanted=bound)


def _hazards(run: Any) -> list[str]:
    """The first hazard of a run, in early or in late timing, as a sentence."""
    try:
        found = run.hazards()
    except FAULTS as fault:  # in late timing
        return [str(fault)]
    return [f"A hazard: {found[0]}"] if found else []


def _by_other_means(run: Any) -> str:
    """A sentence if a kernel whose rung multiplies on the tensor cores gets its result in another way; else ""."""
    ptx = run.kernel.unedited().compile_as_taught().ptx
    if not re.search(r"^\s*(?:@\S+\s+)?(?:wmma\.mma|mma|wgmma\.mma_async)\.", ptx, re.M):
        return ""
    done, needed = tensor_products(run.report), run.m * run.n * run.k
    if done >= needed:
        return ""
    return (
        f"At {run.m} × {run.n} × {run.k} the tensor cores did {done:,} of {needed:,} multiply-adds: the result is "
        "right, and comes from elsewhere."
    )


class Count(NamedTuple):
    """What the emulator counts in a run, and its bound: at most, or with `least` at least, what exercises.toml says."""

    attribute: str
    label: str
    says: str
    least: bool = False


COUNTS = {
    "conflict_degree": Count(
        "conflict_degree",
        "wavefronts for each ideal one",
        "It needs {found:.2f} wavefronts for each ideal one; {wanted:g} is possible.",
    ),
    "sectors_per_request": Count(
        "sectors_per_request", "sectors a request", "It needs {found:.2f} sectors a request; {wanted:g} is possible."
    ),
    "least_sectors": Count(
        "sectors_per_request",
        "sectors a request",
        "A request to global memory moves {found:.2f} sectors; {wanted:g} is possible, 16 bytes for each lane.",
        least=True,
    ),
}
