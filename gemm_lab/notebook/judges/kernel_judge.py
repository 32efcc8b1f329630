"""Checks the answer to a kernel exercise: exact at every size, no hazard, and within the limits of the exercise.

Every criterion is deterministic and the same on every machine: the answer runs on the simulator, compiled for the
ladder's reference GPU and with its default tiles, and all inputs depend on one number, the seed. If there is a GPU that
the kernel is written for, the answer must be right there as well. A grader asks for more, see `Rules`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gemm_lab.compiling import NotJudged
from gemm_lab.courses import criteria
from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.here import resolve_backend
from gemm_lab.notebook.judges.conflict_reason import dearest_conflict
from gemm_lab.notebook.judges.cuda_tokens import normalised
from gemm_lab.notebook.judges.run_faults import FAULTS, first_hazard_of
from gpu_simulator.compiler import Compiled, CompileError
from gpu_simulator.errors import SimulatorError


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


class Rules:
    """What a grader asks beyond a learner's own check, which asks nothing more: none of these methods refuses.

    A method returns sentences that refuse the answer, or one sentence, "" for none.
    """

    def of_text(self, text: str, first_line: int) -> list[str]:
        """Before the text is compiled; `first_line` is the number of its first line in the cell."""
        return []

    def of_compiled(self, answer: Kernel, compiled: Compiled) -> str:
        """Before a configuration is launched."""
        return ""

    def of_result(self, run: Any, wanted: Mapping[str, Any], seed: int, number: int) -> str:
        """After the configuration of this number was right at all sizes of the exercise, without a hazard.

        run: the last of its runs.   wanted: what is asked with this configuration.
        """
        return ""

    def of_work(self, run: Any, wanted: Mapping[str, Any], seed: int, number: int) -> str:
        """After all configurations have kept all counts of the exercise; the arguments are those of `of_result`."""
        return ""


def judge(answer: Kernel, wanted: Mapping[str, Any], seed: int = 0, rules: Rules | None = None) -> Judgement:
    """Check the learner's text for the region `wanted["region"]`, with the settings of the exercise in `wanted`.

    seed: all inputs depend on it, and differ for each of `wanted["sizes"]`.   rules: what is asked beyond that.
    Raises `CompileError` if the answer does not compile.
    """
    rules = rules or Rules()
    edit = answer.edits[wanted["region"]]
    if reasons := rules.of_text(edit.text, edit.first_line):
        return Judgement(reasons=reasons, exact=False)
    if reasons := [said for one in criteria() for said in one.of_text(edit.text, edit.first_line, wanted)]:
        return Judgement(reasons=reasons, exact=False)
    base = kernel(wanted["kernel"])
    # The text that the rules have read is compiled, and the same binary is both simulated and counted.
    answer = replace(
        answer,
        edits={wanted["region"]: replace(edit, text=normalised(edit.text))},
        config=base.spec.configure(),
        simulated_arch=wanted.get("arch"),
    )
    found = Judgement([("sizes", str(len(wanted["sizes"])))])
    asked: dict[str, Mapping[str, Any]] = {}  # what is asked with each configuration, by its settings as text
    for number, entry in enumerate(wanted.get("configs", [{}])):  # the same text must be right with several tiles
        settings = {name: value for name, value in entry.items() if name.isupper()}
        where = "".join(f"With {name} = {value}: " for name, value in settings.items())
        asked[where] = {**wanted, **{name: value for name, value in entry.items() if name not in settings}}
        _judge_run(found, answer(**settings), asked[where], settings, where, seed, rules, number)
        if not found.exact:
            return found
    _judge_machine_code(found, asked)
    if found.reasons:
        return found
    for number, (where, run) in enumerate(found.runs):
        waits = next(filter(None, (one.of_run(run, asked[where]) for one in criteria())), "")
        if reason := waits or rules.of_work(run, asked[where], seed, number):
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
        for one in criteria():
            facts, reasons = one.of_machine_code(run.compiled, rung, asked[where])
            found.facts += [fact for fact in facts if fact not in found.facts]
            for name, reason in reasons.items():
                missed.setdefault(name, where + reason)
    found.reasons += missed.values()
    found.missed += len(missed)
    found.asked += len(set().union(*asked.values()) & {name for one in criteria() for name in one.counts})


def _wrong_here(answer: Kernel, wanted: Mapping[str, Any], seed: int) -> str:
    """A sentence if an answer that is right on the simulator is wrong on the GPU here; "" if not, or without a GPU."""
    if resolve_backend(None) != "gpu" or not answer.runs_here():
        return ""
    from gpu_runner import KernelFault, KernelHang

    m, n, k = wanted["sizes"][-1]
    try:
        run = answer.run(n, m, k, seed=seed, timed=False, counted=False, backend="gpu")
    except (KernelFault, KernelHang) as fault:
        return f"Right on the simulator; on this GPU, at {m} × {n} × {k}: {fault}"
    except NotJudged:
        raise
    except SimulatorError:  # such as a busy GPU, or tiles for this GPU that are larger than this size: no verdict
        return ""
    return "" if run.passed else f"Right on the simulator, and wrong on this GPU: at {m} × {n} × {k}, {run.message}"


def _judge_run(
    found: Judgement,
    answer: Kernel,
    wanted: Mapping[str, Any],
    settings: Mapping[str, int],
    where: str,
    seed: int,
    rules: Rules,
    number: int,
) -> None:
    """Check one configuration, of this number, and add the outcome to `found`.

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
    if reason := rules.of_compiled(answer, compiled):
        return refuse(where + reason)
    for place, (m, n, k) in enumerate(wanted["sizes"]):
        try:
            run = answer.run(n, m, k, seed=seed + place, backend="simulator", sms=sms)
        except FAULTS as fault:
            return refuse(f"{where}At {m} × {n} × {k}: {fault}")
        if not run.passed:
            why = [said for one in criteria() for said in one.of_wrong_result(answer, wanted)]
            return refuse(f"{where}At {m} × {n} × {k}: {run.message}", *why, *first_hazard_of(run))
    if reasons := first_hazard_of(run):
        return refuse(f"{where}The result is right on the simulator, by luck.", *reasons)
    if reason := rules.of_result(run, wanted, seed, number):
        return refuse(where + reason)
    counts = {COUNTS[key]: bound for key, bound in wanted.items() if key in COUNTS}
    named = "".join(f", {name} = {value}" for name, value in settings.items())
    found.facts.append(("shared memory" + named, f"{compiled.smem:,} B"))
    for count, bound in counts.items():
        value = getattr(run, count.attribute)
        found.asked += 1
        if value is None:  # no access to shared memory, hence no conflict
            continue
        found.facts.append((count.label + named, f"{value:.2f}"))
        if (value < bound * 0.999) if count.least else (value > bound * 1.001):
            found.missed += 1
            why = dearest_conflict(run) if count.attribute == "conflict_degree" else ""
            found.reasons.append(f"{where}At {m} × {n} × {k}: {_said(count.says, value, bound)} {why}".rstrip())
    found.runs.append((where, run))
    return None


_TOO_MUCH_SHARED = re.compile(r"too much shared data \(([\d,]+) bytes, ([\d,]+) max\)")


def _said(says: str, value: float, bound: float) -> str:
    """The sentence of a count, with enough digits to distinguish the value from its bound."""
    digits = next((digits for digits in range(2, 7) if f"{value:.{digits}f}" != f"{bound:.{digits}f}"), 6)
    return says.replace("{found:.2f}", f"{{found:.{digits}f}}").format(found=value, wanted=bound)


class CountLimit(NamedTuple):
    """A count of a run on the simulator, whose bound is in exercises.toml: a maximum, or with `least` a minimum.

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
