"""Small CUDA programs, right and wrong: the right ones are found clean, the wrong ones named with line and reason.

The first lines of each program say what it is, how it is launched, and what a wrong one must report:

    // launch: --grid 2 --block 64 --arg i32:64        options of `python -m gpu_simulator`
    // result: arg 0 = 2 * np.arange(64)               after the launch; `args` are the arguments before it
    // hazard: race, "__threadfence()"                 its severity (or race|error), and a part of its message
    // fault: Deadlock, "barrier"                      the launch ends with this error
    // timing: late                                    the only one that shows it: the blocks run in another order

A line that the message has to name, or one of them, ends in `// here`.
"""

import argparse
import re
import shlex
from functools import cache
from pathlib import Path

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.cli.argument_words import argument
from gpu_simulator.cli.command_line import add_options
from gpu_simulator.kernel_file import kernel_file

PROGRAMS = Path(__file__).parent / "programs"
RIGHT, WRONG = (sorted(path.stem for path in (PROGRAMS / kind).glob("*.cu")) for kind in ("right", "wrong"))

# Judged wrongly today: right programs that are reported, and wrong ones that are not found or not for their reason.
POLLED = "a flag that is polled orders by each value that a poll reads in this run, not by the last one alone"
KNOWN = {
    "wrong/activemask_taken_for_the_branch": "the warp runs together here, so __activemask() names all who entered",
    "wrong/flag_overwritten_by_a_store": POLLED,
    "wrong/peterson_lock_without_store_load_fence": "memory is always in order, so both blocks never enter here",
}


def head(text: str, word: str) -> str | None:
    """What follows `// word:` at the start of a line, or None."""
    found = re.search(rf"^// {word}: (.*)", text, re.M)
    return found and found[1].strip()


@cache
def prepared(path: Path):
    """The options of the launch, and the compiled program."""
    compiling.need_compiler()
    parser = argparse.ArgumentParser()
    add_options(parser)
    options = parser.parse_args([str(path), *shlex.split(head(path.read_text(), "launch") or "")])
    return options, kernel_file(path, options.entry, options.arch, cache=compiling.CACHE)


def launched(path: Path, timing: str):
    """The report, the arguments before the launch, and after it."""
    options, kernel = prepared(path)
    before, after = ([argument(word, seed) for seed, word in enumerate(options.arguments)] for _ in range(2))
    shape = (tuple(options.grid), tuple(options.block), after, options.smem, tuple(options.cluster))
    most = options.max_instructions or 50_000
    report = gpu_simulator.launch(
        kernel.program, kernel.entry, *shape, observers=("hazards",), timing=timing, max_instructions=most
    )
    return report, before, after


def cases(kind: str, names: list[str]):
    known = {name: KNOWN.get(f"{kind}/{name}") for name in names}
    return [pytest.param(n, marks=[pytest.mark.xfail(reason=known[n], strict=True)] if known[n] else []) for n in names]


@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("name", cases("right", RIGHT))
def test_a_right_program_is_clean(name, timing):
    path = PROGRAMS / "right" / f"{name}.cu"
    report, before, after = launched(path, timing)
    assert [str(hazard) for hazard in report.hazards] == []
    if result := head(path.read_text(), "result"):
        number, _, expected = result.removeprefix("arg ").partition(" = ")
        expected = np.ravel(eval(expected, {"np": np, "args": before}))
        assert np.array_equal(after[int(number)].ravel(), expected)


@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("name", cases("wrong", WRONG))
def test_a_wrong_program_is_found(name, timing):
    path = PROGRAMS / "wrong" / f"{name}.cu"
    text = path.read_text()
    if timing not in (head(text, "timing") or timing):
        return
    marked = [f"{name}.cu:{row}" for row, line in enumerate(text.split("\n"), 1) if line.endswith("// here")]
    kind, phrase = re.fullmatch(r'([\w|]+), "(.*)"', head(text, "fault") or head(text, "hazard")).groups()
    if head(text, "fault"):
        with pytest.raises(getattr(gpu_simulator, kind)) as error:
            launched(path, timing)
        found, told = [str(error.value)], [error.value]
    else:
        hazards = launched(path, timing)[0].hazards
        found = [str(hazard) for hazard in hazards if hazard.severity in kind.split("|")]
        assert found, [f"{hazard.severity}: {hazard}" for hazard in hazards]
        told = hazards
    for one in told:  # the fields are what the sentence says; of a fault, what it says before its cause is added
        said = one.args[0] if isinstance(one, Exception) else one.message
        assert f"{one.file}:{one.line}" in said and one.file.startswith(name), one
        assert (f"lock {one.block}" in said) if one.block else ("lock (" not in said), one
        assert (f"thread {one.thread}" in said) if one.thread else (", thread (" not in said), one
    assert any(phrase in said.replace(name, "") and _names(said, marked) for said in found), found


def _names(said: str, places: list[str]) -> bool:
    return not places or any(re.search(rf"{re.escape(place)}\b", said) for place in places)
