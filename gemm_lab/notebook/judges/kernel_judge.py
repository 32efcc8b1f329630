"""Checks the answer to a kernel exercise: exact at every size, no hazards, and within the limits of the exercise.

Every criterion is deterministic and the same on every machine: the answer runs on the emulator, compiled for the
ladder's reference GPU and with its default tiles, and all inputs depend on one number, the seed. If there is a GPU that
the kernel is written for, the answer must be right there as well.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gemm_lab.catalog import LONGEST_EDGE
from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.backends import resolve_backend
from gemm_lab.lab.emulating import smallest_size
from classroom.judge.answer_text import refusals
from gemm_lab.notebook.judges.brackets import sums_beside_xor
from gemm_lab.notebook.judges.code_criteria import CODE_CRITERIA, judge_code
from gemm_lab.notebook.judges.cuda_tokens import normalised
from classroom.judge.extra_work import extra_work, other_shares, tensor_products
from classroom.judge.float_addresses import address_in_floats
from gemm_lab.notebook.judges.fragment_check import explain_fragments
from classroom.judge.machine_sizes import too_much_local_memory, wrong_with_many_blocks
from classroom.judge.offset_widths import narrow_offset
from classroom.judge.other_targets import wrong_on_other_targets
from classroom.judge.special_launches import FAULTS, first_hazard_of, wrong_with_special_values
from classroom.judge.value_dependence import depends_on_values
from gpu_runner import KernelFault, KernelHang
from gpu_simulator.codegen.program import program_of
from gpu_simulator.compiler import CompileError
from gpu_simulator.errors import LabError, NotJudged


@dataclass
class Judgement:
    """The result of checking an answer. It is right if there are no `reasons` to refuse it.

    facts: (label, value) pairs to display.   exact: it is right at every size and has no hazard, so the only possible
    reasons are counts: the answer misses `missed` of the `asked` counts.
    """

    facts: list[tuple[str, str]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    exact: bool = True
    missed: int = 0
    asked: int = 0
    runs: list[tuple[str, Any]] = field(default_factory=list, repr=False)  # (settings as text, the last run with them)


def judge(answer: Kernel, wanted: Mapping[str, Any], seed: int = 0) -> Judgement:
    """Check the learner's text for the region `wanted["region"]`, with the settings of the exercise in `wanted`.

    seed: all inputs depend on it, and differ for each of `wanted["sizes"]`. If it is not 0, `drawn_sizes` are checked
    first. Raises `CompileError` if the answer does not compile.
    """
    edit = answer.edits[wanted["region"]]
    if reasons := refusals(edit.text, edit.first_line):
        return Judgement(reasons=reasons, exact=False)
    if wanted.get("brackets") and (reasons := sums_beside_xor(edit.text, edit.first_line)):
        return Judgement(reasons=reasons, exact=False)
    base = kernel(wanted["kernel"])
    # The text that `refusals` has read is compiled, and the same binary is both emulated and counted.
    answer = replace(
        answer,
        edits={wanted["region"]: replace(edit, text=normalised(edit.text))},
        config=base.spec.configure(),
        emulated_arch=wanted.get("arch"),
    )
    found = Judgement([("sizes", str(len(wanted["sizes"])))])
    asked: dict[str, Mapping[str, Any]] = {}  # what is asked with each configuration, by its settings as text
    configs = wanted.get("configs", [{}])
    for number, entry in enumerate(configs):  # the same text must be right with several tiles
        settings = {name: value for name, value in entry.items() if name.isupper()}
        where = "".join(f"With {name} = {value}: " for name, value in settings.items())
        asked[where] = {**wanted, **{name: value for name, value in entry.items() if name not in settings}}
        drawn = drawn_sizes(answer(**settings), wanted, seed)
        if number:  # all of them with the first configuration, the large k with the others as well
            drawn = drawn[LARGE_K : LARGE_K + 1]
        sizes = [*drawn, *map(tuple, wanted["sizes"])]
        second = number == min(1, len(configs) - 1)  # it has three stages where the first has two
        longest = long_sizes(answer(**settings), seed) if second else []
        _judge_run(found, answer(**settings), asked[where], settings, where, sizes, longest, seed)
        if not found.exact:
            return found
    for where, run in found.runs:  # before the machine code, because a branch around setmaxnreg changes its counts too
        if reason := other_shares(run):
            found.exact, found.reasons = False, [where + reason]
            return found
    _judge_machine_code(found, asked)
    if found.reasons:
        return found
    for where, run in found.runs:
        if reason := extra_work(run, asked[where]):
            found.exact, found.reasons = False, [where + reason]
            return found
    where, run = found.runs[0]
    if reason := wrong_on_other_targets(run.kernel, run.compiled.arch, asked[where], seed, wanted.get("sms")):
        found.exact, found.reasons = False, [where + reason]
        return found
    if reason := _wrong_here(replace(answer, config=base.config), wanted, seed):
        found.exact, found.reasons = False, [reason]
    return found


def _judge_machine_code(found: Judgement, asked: Mapping[str, Mapping[str, Any]]) -> None:
    """Add to `found` the counts in the machine code of all configurations; `asked` has the limits of each.

    A count that several configurations miss is counted as missed once.
    """
    missed: dict[str, str] = {}
    for where, run in found.runs:
        rung = run.kernel.unedited().compile_as_taught()
        facts, reasons = judge_code(run.compiled, rung, asked[where])
        found.facts += [fact for fact in facts if fact not in found.facts]
        for name, reason in reasons.items():
            missed.setdefault(name, where + reason)
    found.reasons += missed.values()
    found.missed += len(missed)
    found.asked += len(set().union(*asked.values()) & set(CODE_CRITERIA))


def _wrong_here(answer: Kernel, wanted: Mapping[str, Any], seed: int) -> str:
    """A sentence if an answer that is right on the emulator is wrong on the GPU here; "" if not, or without a GPU."""
    if resolve_backend(None) != "gpu" or not answer.runs_here():
        return ""
    m, n, k = wanted["sizes"][-1]
    try:
        run = answer.run(n, m, k, seed=seed, timed=False, counted=False, backend="gpu")
    except (KernelFault, KernelHang) as fault:
        return f"Right on the emulator; on this GPU, at {m} × {n} × {k}: {fault}"
    except NotJudged:
        raise
    except LabError:  # such as a busy GPU, or tiles for this GPU that are larger than this size: no verdict
        return ""
    return "" if run.passed else f"Right on the emulator, and wrong on this GPU: at {m} × {n} × {k}, {run.message}"


def _judge_run(
    found: Judgement,
    answer: Kernel,
    wanted: Mapping[str, Any],
    settings: Mapping[str, int],
    where: str,
    sizes: Sequence[tuple[int, int, int]],
    longest: Sequence[tuple[int, int, int]],
    seed: int,
) -> None:
    """Check one configuration at these sizes (m, n, k) and add the outcome to `found`. longest: see `long_sizes`.

    The check stops at a wrong result, at a hazard, and if too much shared memory is used.
    """

    def refuse(*reasons: str) -> None:
        found.exact = False
        found.reasons[:] = reasons

    # Few multiprocessors mean few persistent blocks, so that a small size already gives a block several tiles.
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
    if program_of(compiled.ptx, compiled.entry).frames:
        return refuse("A function in it calls itself. No part of a matrix product needs that: write a loop.")
    if reason := too_much_local_memory(answer, compiled) or address_in_floats(compiled):
        return refuse(where + reason)
    for number, (m, n, k) in enumerate(sizes):
        try:
            run = answer.run(n, m, k, seed=seed + number, backend="emulator", sms=sms)
        except FAULTS as fault:
            return refuse(f"{where}At {m} × {n} × {k}: {fault}")
        if not run.passed:
            why = explain_fragments(answer) if wanted.get("fragments") else []
            return refuse(f"{where}At {m} × {n} × {k}: {run.message}", *why, *first_hazard_of(run))
    for m, n, k in longest:
        try:
            long = answer.run(n, m, k, seed=seed, backend="emulator", sms=sms, counted=False)
        except FAULTS as fault:
            return refuse(f"{where}At {m} × {n} × {k}: {fault}")
        if not long.passed:
            return refuse(f"{where}At {m} × {n} × {k}: {long.message}")
    if reasons := first_hazard_of(run):
        return refuse(f"{where}The result is right on the emulator, by luck.", *reasons)
    reason = wrong_with_special_values(answer, compiled, sizes, seed, sms)
    if not (reason or found.runs):  # with the first configuration alone
        reason = narrow_offset(answer, compiled)
    reason = reason or wrong_with_many_blocks(answer, compiled) or depends_on_values(answer, compiled, wanted["region"])
    if reason:
        return refuse(where + reason)
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


# The range of drawn sizes that are larger than those of the exercise. One of m, n and k is at least twice the
# exercise's largest, or for m and n five block tiles; at most it is so large that these multiply-adds and this edge are
# not exceeded. The factor is drawn on a logarithmic scale.
TWICE, BLOCKS, MOST_PRODUCTS, LONGEST = 2, 5, 2**24, 8192
LARGE_K = 2  # the number of the drawn size with a large k
SMALL_TILE = 128 * 128  # elements of D, up to which a k of more than 2¹⁵ is emulated; else it is more than 2¹⁴
MANY_TILES = 20  # along k, where a kernel takes any size: more than a block has barriers


def drawn_sizes(answer: Kernel, wanted: Mapping[str, Any], seed: int) -> list[tuple[int, int, int]]:
    """Five more sizes (m, n, k), because those of the exercise are known to the learner; none if the seed is 0.

    One is within the exercise's own sizes, and one is at most one block tile. The other three go beyond the exercise's
    sizes, as the comment above says: one with a large k, one with a large m and one with a large n. With the large n,
    m is more than one block tile, and k fills every stage and one of them again: so blocks of several rows and columns
    overwrite what they have read. Otherwise the two other extents are the exercise's smallest.
    """
    if seed == 0:
        return []
    draw, steps = random.Random(seed), [*answer.spec.size_multiples(answer.config).values()]
    most = [max(size[axis] for size in wanted["sizes"]) for axis in range(3)]
    least = [min(size[axis] for size in wanted["sizes"]) for axis in range(3)]

    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
    block = [max(answer.config.get(name, 1), step) for name, step in zip(names, steps, strict=True)]

    def past(axis: int, tiles: int) -> int:
        return steps[axis] * (tiles * block[axis] // steps[axis] + draw.randint(1, block[axis] // steps[axis]))

    def beyond(axis: int, low: int) -> tuple[int, int, int]:
        size = [past(0, 1), past(1, 1), past(2, answer.config.get("NUM_STAGES", 1))] if axis == 1 else list(least)
        high = size[axis] * MOST_PRODUCTS // math.prod(size)
        edge = low * (max(min(high, LONGEST), 2 * low) / low) ** draw.random()
        size[axis] = steps[axis] * max(1, round(edge / steps[axis]))
        return tuple(size)

    within = tuple(step * draw.randint(1, max(1, edge // step)) for step, edge in zip(steps, most, strict=True))
    tiny = tuple(step * draw.randint(1, edge // step) for step, edge in zip(steps, block, strict=True))
    tall, wide = (beyond(axis, max(TWICE * most[axis], BLOCKS * block[axis])) for axis in (0, 1))
    return [within, tiny, beyond(2, TWICE * most[2]), tall, wide]


def long_sizes(answer: Kernel, seed: int) -> list[tuple[int, int, int]]:
    """Sizes (m, n, k) at which a counter of 8 or 16 bits is too short; none if the seed is 0.

    A kernel that takes any size gets as many rows or columns as a GEMM may have here, and then `MANY_TILES` along k.
    The others, whose tiles would make this long, get one tile of D and a long k: more than 2¹⁵, or more than 2¹⁴ if
    the tile is large.
    """
    if seed == 0:
        return []
    draw, steps = random.Random(seed), answer.spec.size_multiples(answer.config)
    if set(steps.values()) == {1}:
        many = MANY_TILES * answer.config.get("BLOCK_K", 1) + 5
        return [(LONGEST_EDGE, 1, 1), (1, LONGEST_EDGE, 1), (1, 1, many)]
    m, n, _ = smallest_size(answer)
    k = 2**15 if m * n <= SMALL_TILE else 2**14
    return [(m, n, (k // steps["k"] + draw.choice((5, 6, 7, 9))) * steps["k"])]


_TOO_MUCH_SHARED = re.compile(r"too much shared data \(([\d,]+) bytes, ([\d,]+) max\)")


def _said(says: str, value: float, bound: float) -> str:
    """The sentence of a count, with enough digits to distinguish the value from its bound."""
    digits = next((digits for digits in range(2, 7) if f"{value:.{digits}f}" != f"{bound:.{digits}f}"), 6)
    return says.replace("{found:.2f}", f"{{found:.{digits}f}}").format(found=value, wanted=bound)


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


class CountLimit(NamedTuple):
    """A count of a run on the emulator, whose bound is in exercises.toml: a maximum, or with `least` a minimum.

    attribute: of the `Run`.   says: the reason for a refusal.
    """

    attribute: str
    label: str
    says: str
    least: bool = False


COUNTS = {
    "conflict_degree": CountLimit(
        "conflict_degree",
        "wavefronts for each ideal one",
        "It needs {found:.2f} wavefronts for each ideal one; {wanted:g} is possible.",
    ),
    "sectors_per_request": CountLimit(
        "sectors_per_request",
        "sectors a request",
        "It needs {found:.2f} sectors a request; at most {wanted:g} are accepted here.",
    ),
    "least_sectors": CountLimit(
        "sectors_per_request",
        "sectors a request",
        "A request to global memory moves {found:.2f} sectors; {wanted:g} is possible, 16 bytes for each lane.",
        least=True,
    ),
}
