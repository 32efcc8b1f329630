"""Mutants of the right answers: small mistakes, made by the hundred, that the judge must decide the same way each time.

Each mutant is judged twice, with other inputs. The judge has to end in a verdict or a sentence, never in another error
and never in “not judged”; and what the first inputs refuse, the second have to refuse, too.
"""

import random
import re

import pytest

from gemm_lab.compiling import NotJudged
from gemm_lab.notebook import exercises as exercises_module
from gemm_lab.notebook.exercises import WrongAnswer, exercises
from gemm_lab_classroom.skeletons import solution
from gpu_simulator.errors import SimulatorError
from tools.wrong_answers import kernel_of

TASKS = {name: task for name, task in exercises().items() if task.judge == "kernel"}
pytestmark = pytest.mark.timeout(1800)


def swap_operands(text, random_):
    return _one(re.compile(r"(\b\w+(?:\[[^\[\]]*\])?) ([-+*/%]) (\w+(?:\[[^\[\]]*\])?)"), r"\3 \2 \1", text, random_)


def other_constant(text, random_):
    change = random_.choice([-1, 1])
    return _one(
        re.compile(r"(?<![\w.\"%])\d+(?![\w.])"), lambda found: str(max(0, int(found[0]) + change)), text, random_
    )


def other_comparison(text, random_):
    new = random_.choice(["<", "<=", ">", ">=", "==", "!="])
    return _one(re.compile(r"(?<=\s)(?:<=|>=|==|!=|<|>)(?=\s)"), new, text, random_)


def other_operator(text, random_):
    return _one(re.compile(r"(?<=\s)[-+*/%^&|](?=\s)"), random_.choice("+-*/%^&|"), text, random_)


def drop_line(text, random_):
    lines = text.split("\n")
    del lines[random_.randrange(len(lines))]
    return "\n".join(lines)


def double_line(text, random_):
    lines = text.split("\n")
    at = random_.randrange(len(lines))
    return "\n".join(lines[:at] + [lines[at]] + lines[at:])


def exchange_lines(text, random_):
    lines = text.split("\n")
    at = random_.randrange(max(1, len(lines) - 1))
    lines[at : at + 2] = lines[at : at + 2][::-1]
    return "\n".join(lines)


def other_barrier(text, random_):
    new = random_.choice(
        ["__syncwarp();", "__syncthreads();", "__threadfence_block();", ";", "if (threadIdx.x < 32) __syncthreads();"]
    )
    return _one(
        re.compile(r"__syncthreads\(\);|__syncwarp\(\);|\w*(?:wait|arrive|commit)\w*\([^;]*\);"), new, text, random_
    )


def extra_barrier(text, random_):
    lines = text.split("\n")
    lines.insert(random_.randrange(len(lines)), "  __syncthreads();")
    return "\n".join(lines)


def other_name(text, random_):
    """One use of a name becomes another name of the same text."""
    names = sorted(set(re.findall(r"\b[a-z_]\w{1,}\b", text)))
    return _one(re.compile(r"\b[a-z_]\w{1,}\b"), random_.choice(names) if names else "x", text, random_)


MUTATIONS = [
    swap_operands,
    other_constant,
    other_constant,
    other_comparison,
    other_operator,
    drop_line,
    double_line,
    exchange_lines,
    other_barrier,
    extra_barrier,
    other_name,
]


def _one(pattern, new, text, random_):
    """The text with one of the matches replaced; unchanged if there is none."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = random_.choice(found)
    inside = new(match) if callable(new) else match.expand(new)
    return text[: match.start()] + inside + text[match.end() :]


def mutant(number):
    """(exercise, what was done, text) of one mutant: the exercises in turn, each with other mutations."""
    random_ = random.Random(f"mutant {number}")
    name = sorted(TASKS)[number % len(TASKS)]
    right = text = solution(name)
    while text == right:
        mutation = random_.choice(MUTATIONS)
        text = mutation(right, random_)
    return name, mutation.__name__, text


def verdict(name, text, seed):
    """ "solved", "wrong" (with part of the points or without), or "refused" with the name of the error."""
    try:
        TASKS[name].check(kernel_of(TASKS[name], text), seed=seed)
    except WrongAnswer as error:
        return ("misses counts" if error.judgement.exact else "wrong"), str(error)
    except NotJudged:
        raise
    except SimulatorError as error:
        return f"refused: {type(error).__name__}", str(error)
    return "solved", ""


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_BACKEND", "simulator")
    monkeypatch.setattr(exercises_module, "speed_beside", lambda answer: [])


@pytest.mark.sampled(every=8, first=3)
@pytest.mark.parametrize("number", range(16))
def test_a_mutant_gets_the_same_verdict_with_other_inputs(number):
    name, what, text = mutant(number)
    first, said = verdict(name, text, 1000 + number)
    second, said_again = verdict(name, text, 500_000 + number)
    assert first == second, f"{name}, {what}: {first} ({said}), then {second} ({said_again}), for\n{text}"
    assert first == "solved" or said.strip().endswith((".", ")", "?", ":", "”")) or len(said) > 20
