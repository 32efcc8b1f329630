"""`lab.exercise("06_swizzle")`: an exercise with a task, a hint, and a check that says what is wrong.

The exercises are in notebooks/exercises.toml. An exercise about a kernel is checked by running the learner's kernel; an
exercise about a choice of numbers is checked with a model. A wrong answer raises `WrongAnswer`, so a notebook that is
run as a whole stops there.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Any, Protocol

from gemm_lab.cards import theme
from gemm_lab.cards.card import card, facts, folded, mark
from gemm_lab.catalog import listed, tomllib
from gemm_lab.config import data_dir
from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.emulating import still_at_work
from gemm_lab.model import roofline
from gemm_lab.notebook.cells import Uncompiled, superseded
from gemm_lab.notebook.exercise_kernel import kernel_of_exercise, whole_kernel
from gemm_lab.notebook.judges import kernel_judge
from gemm_lab.notebook.judges.layout_criteria import judge_layout
from gemm_lab.notebook.judges.tile_criteria import judge_tile_rounds
from gemm_lab.notebook.later_exercises import solved
from gemm_lab.notebook.remembered.solved import remember
from gemm_lab.notebook.speed_beside import speed_beside
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import ConfigError, LabError
from gpu_simulator.hardware.data_sheets import gpu

_PTX_LINE = re.compile(r", PTX line \d+")  # of no use in a refusal, because the learner's line stands before it


class Asked(Protocol):
    """What a refusal needs to know of an exercise or a puzzle."""

    @property
    def title(self) -> str: ...

    @property
    def hint(self) -> str: ...


class WrongAnswer(LabError):
    """The answer does not solve the exercise; `reasons` has a sentence for each thing that is wrong."""

    is_card = True  # its HTML has a frame already

    def __init__(self, exercise: Asked, reasons: list[str], judgement: kernel_judge.Judgement | None = None):
        self.exercise, self.reasons, self.judgement = exercise, reasons, judgement
        super().__init__(f"{exercise.title}: not yet. " + " ".join(reasons))

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        reasons = theme.tag("ul", "list", items)
        title = f"<b>{mark(False)} {escape(self.exercise.title)}: not yet.</b>"
        return card(title + reasons + folded("hint", escape(self.exercise.hint)), theme.BAD)


@dataclass(frozen=True)
class Solved:
    """A correct answer to an exercise. `facts` are (label, value) pairs, such as the counts of the check."""

    title: str
    facts: list[tuple[str, str]]

    def __repr__(self) -> str:
        return f"{self.title}: solved. " + ", ".join(f"{label} {value}" for label, value in self.facts)

    def _repr_html_(self) -> str:
        return card(f"<b>{mark(True)} {escape(self.title)}: solved.</b>{facts(self.facts)}", theme.GOOD)


@dataclass(frozen=True)
class Exercise:
    """An exercise of exercises.toml. `judge` is the name of its check; `criteria` has the keys without an attribute."""

    name: str
    title: str
    task: str
    hint: str
    judge: str
    criteria: Mapping[str, Any] = field(repr=False)

    @checked
    def check(self, answer: Any = None, *more: Any, seed: int = 0, **choices: int) -> Solved:
        """Check a kernel (`check(mine)`) or a choice of numbers (`check(block_m=128, …)`).

        seed: of the random inputs that a kernel multiplies. Raises `WrongAnswer` for a wrong answer, and `ConfigError`
        for an argument that this exercise does not have, or for numbers without their names.
        """
        if more:
            answer, choices = (answer, *more), {}
        verdict = JUDGES[self.judge](self, answer, choices, **({"seed": seed} if self.judge == "kernel" else {}))
        solved.add(self.name)
        remember(self.name)
        return verdict

    def __repr__(self) -> str:
        return f"Exercise. {self.title}. {self.task}"

    def _repr_html_(self) -> str:
        task = f"<b>Exercise. {escape(self.title)}.</b> {escape(self.task)}"
        whole = whole_kernel(self.name, kernel_of_exercise(self.name, self.criteria)) if self.judge == "kernel" else ""
        return card(task + whole + folded("hint", escape(self.hint)), theme.TASK)


def kernel_of(exercise: Exercise, text: str) -> Kernel:
    """The kernel with `text` in the exercise's region, as the `%%kernel` cell of the exercise creates it."""
    wanted = exercise.criteria
    return kernel(wanted["kernel"]).edit(first_line=2, alias="mine", **{wanted["region"]: text.rstrip("\n")})


# ---- Judges -----------------------------------------------------------------


def judge_kernel(
    exercise: Exercise,
    answer: Any,
    choices: dict[str, int],
    seed: int = 0,
    rules: kernel_judge.Rules | None = None,
) -> Solved:
    """Check the kernel of a cell with `kernel_judge`, which uses only the text of its region. rules: of a grader."""
    wanted = exercise.criteria
    if isinstance(answer, Uncompiled):
        raise ConfigError(answer.says)
    if not isinstance(answer, Kernel) or choices:
        raise ConfigError(f"{exercise.title} is checked with the kernel of your cell: exercise.check(mine).")
    if answer.name != wanted["kernel"] or not answer.edited:
        raise ConfigError(f"{exercise.title} is about your edit of {wanted['kernel']}, not {answer.label}.")
    if set(answer.edits) != {wanted["region"]}:
        raise ConfigError(
            f"{exercise.title} is about one region; edit it in a cell that begins with "
            f"%%kernel {wanted['kernel']} --region {wanted['region']}."
        )
    with still_at_work(f"the check of “{exercise.title}”"):
        found = kernel_judge.judge(answer, wanted, seed, rules)
    found.reasons = [_PTX_LINE.sub("", reason) for reason in found.reasons]
    older = f"The last cell of “{answer.alias}” did not compile; this is the version before it."
    reasons = [older, *found.reasons] if answer.alias in superseded else found.reasons
    if found.reasons:
        raise WrongAnswer(exercise, reasons, found)
    note = [("mind", older)] if answer.alias in superseded else []
    return Solved(exercise.title, note + found.facts + speed_beside(answer))


def judge_block_tile(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a block tile: whole mma tiles for each warp, a large enough intensity, stages and sums that fit."""
    m, n, k = _choices(exercise, choices, ("block_m", "block_n", "block_k"))
    target, stages = gpu(exercise.criteria["gpu"]), exercise.criteria["stages"]
    argument = roofline.l2_argument(m, n)
    smem, reasons = stages * (m + n) * k * 2, []
    if not argument.enough:
        reasons.append(
            f"{m} × {n} gives {roofline.rounded_down(argument.intensity)} FLOP/byte; "
            f"the balance point is {argument.balance:.2f}."
        )
    if smem > target.smem_per_block:
        reasons.append(
            f"{stages} stages take {smem:,} bytes; a block on a {target.name} has {target.smem_per_block:,}."
        )
    threads, other = exercise.criteria["threads"], exercise.criteria["other_registers"]
    warps = threads // 32
    sums, most = -(-m * n // threads), target.max_registers_per_thread
    if sums + other > most:
        reasons.append(
            f"{m} × {n} sums take {sums} registers for each of {threads} threads, and other values {other} more. "
            f"A thread has {most}."
        )
    if m % 16 or n % 8 or k % 8:
        reasons.append(
            "An mma of a T4 multiplies 16 × 8 × 8: block_m must be a multiple of 16, block_n and block_k of 8."
        )
    elif not any(m % (16 * rows) == 0 and n % (8 * (warps // rows)) == 0 for rows in _divisors(warps)):
        reasons.append(
            f"The {threads} threads are {warps} warps, which share the tile evenly, as rows and columns of equal "
            f"rectangles made of whole 16 × 8 pieces. The {m // 16} × {n // 8} pieces of {m} × {n} cannot be cut "
            f"into {warps} such rectangles."
        )
    if reasons:
        raise WrongAnswer(exercise, reasons)
    return Solved(
        exercise.title,
        [
            ("intensity", f"{roofline.rounded_down(argument.intensity)} FLOP/byte"),
            ("balance", f"{argument.balance:.2f} FLOP/byte"),
            ("shared memory", f"{smem:,} B"),
            ("registers for sums", f"{sums} of {most} a thread"),
        ],
    )


def _divisors(number: int) -> list[int]:
    return [part for part in range(1, number + 1) if number % part == 0]


def judge_warp_tile(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check the division of a block tile among warps: it must read the fewest elements from shared memory."""
    warps_m, warps_n = _choices(exercise, choices, ("warps_m", "warps_n"))
    block_m, block_n = exercise.criteria["block"]
    total = exercise.criteria["warps"]
    if warps_m * warps_n != total:
        raise WrongAnswer(exercise, [f"{warps_m} × {warps_n} = {warps_m * warps_n} warps; the block has {total}."])

    def reads(rows: int, columns: int) -> int:
        return block_m * columns + block_n * rows  # in each step of k, every warp reads its rows of A and columns of B

    if block_m % warps_m or block_n % warps_n:
        raise WrongAnswer(exercise, [f"{warps_m} × {warps_n} warps do not divide {block_m} × {block_n}."])
    best = min(reads(r, total // r) for r in range(1, total + 1) if total % r == 0)
    mine = reads(warps_m, warps_n)
    if mine > best:
        raise WrongAnswer(exercise, [f"Your warps read {mine} elements for each step of k; {best} is possible."])
    return Solved(
        exercise.title,
        [("elements read per step of k", str(mine)), ("warp tile", f"{block_m // warps_m} × {block_n // warps_n}")],
    )


def judge_tile(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a padding or a swizzle for a tile in shared memory; `choose` in exercises.toml names the parameters."""
    names = tuple(exercise.criteria["choose"])
    facts, reasons = judge_layout(exercise.criteria, dict(zip(names, _choices(exercise, choices, names), strict=True)))
    if reasons:
        raise WrongAnswer(exercise, reasons)
    return Solved(exercise.title, facts)


def judge_rounds(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a block tile with which the last round of blocks is nearly full; see `tile_criteria` for the rest."""
    facts, reasons = judge_tile_rounds(exercise.criteria, *_choices(exercise, choices, ("block_m", "block_n")))
    if reasons:
        raise WrongAnswer(exercise, reasons)
    return Solved(exercise.title, facts)


def _choices(exercise: Exercise, choices: dict[str, int], names: tuple[str, ...]) -> list[int]:
    if set(choices) != set(names):
        lacking = [f"{name} is missing" for name in names if name not in choices]
        further = [f"{str(name)[:40]} is none of them" for name in choices if name not in names]
        raise ConfigError(
            f"{exercise.title} is checked by exercise.check({', '.join(f'{name}=…' for name in names)}), "
            f"with {'the names of the numbers' if len(names) > 1 else 'the name of the number'} and no other argument: "
            f"{', '.join([*lacking, *further])}."
        )
    for name, value in choices.items():
        least = 0 if name == "pad_bytes" else 1  # no padding is a legal answer, and it may be the right one
        if (found := as_whole(value)) is None or found < least:
            raise ConfigError(f"{name} must be a whole number ≥ {least}, not {shown(value)}.")
    return [int(choices[name]) for name in names]


JUDGES: dict[str, Callable[..., Solved]] = {
    "kernel": judge_kernel,
    "block_tile": judge_block_tile,
    "warp_tile": judge_warp_tile,
    "tile": judge_tile,
    "rounds": judge_rounds,
}


@lru_cache(maxsize=1)
def exercises() -> dict[str, Exercise]:
    """All exercises by name. Raises `ConfigError` for a bad entry in exercises.toml."""
    data = tomllib.loads((data_dir("notebooks") / "exercises.toml").read_text(encoding="utf-8"))
    found = {}
    for name, entry in data.items():
        missing = {"title", "task", "hint", "judge"} - set(entry)
        if missing or entry["judge"] not in JUDGES:
            raise ConfigError(f"exercises.toml, {name}: needs title, task, hint and a judge of {', '.join(JUDGES)}.")
        rest = {key: value for key, value in entry.items() if key not in ("title", "task", "hint", "judge")}
        found[name] = Exercise(name, entry["title"], entry["task"], entry["hint"], entry["judge"], rest)
    return found


@checked
def exercise(name: str) -> Exercise:
    """An exercise by name. Raises `LabError` for an unknown name; the message lists similar names."""
    if name in exercises():
        return exercises()[name]
    near = difflib.get_close_matches(name, exercises(), n=3, cutoff=0.3)
    near = near or [known for known in exercises() if name and known.startswith(name[:2])]
    hint = (
        f"Did you mean {listed(near)}?"
        if near
        else (f"A name begins with the number of its notebook, such as {listed(list(exercises())[:3])}.")
    )
    raise LabError(f"There is no exercise {shown(name)}. {hint}")
