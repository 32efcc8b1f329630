"""Kernels that are no part of the catalogue: which ones a text has, and one of them launched as on the command line."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import ml_dtypes
import numpy as np
import touched
from guessing import FILE, kernels_of, name_of
from sentences import Note, note
from shown import expectation, layouts_of, lines_of, missed, values_of

from gemm_lab.lab.simulate import simulated
from gpu_simulator.cli.argument_words import BF16, UNINIT
from gpu_simulator.cli.array_parts import part_of
from gpu_simulator.cli.command_line import add_options, arguments_of, macro, named_of, row, symbols_of
from gpu_simulator.errors import ConfigError
from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.argument_structs import arrays_in
from gpu_simulator.simulating import compiled_kernel

# Options of the command line that have no meaning in a page: files, and what is shown in any case.
ELSEWHERE = ("include", "counts", "layouts", "format", "compare", "save", "max_instructions")
SECONDS = 20.0  # of processor time after which a launch is stopped, unless --max-seconds gives others
FIELD = r"the field “\1”"


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"The launch cannot be read: {re.sub(r'^argument --(grid|block)', FIELD, message)}.")


def options_of(launch: Mapping[str, Any]) -> argparse.Namespace:
    """A launch as the command line has it. launch: {kernel, grid, block, args: [word, …], more: further options}.

    Raises `ConfigError` for what the command line refuses, and for options that a page cannot have.
    """
    parser = _Options(add_help=False, allow_abbrev=False)
    add_options(parser)
    words = [FILE, *(f"--{name}={launch[name]}" for name in ("kernel", "grid", "block") if launch.get(name))]
    words += [f"--arg={word}" for word in launch["args"]]
    try:
        words += shlex.split(re.sub(r"--smem[ =]\?", "--smem=-1", launch.get("more", "")))
    except ValueError as error:
        raise ConfigError(f"The further options cannot be read: {error}.") from None
    found = parser.parse_args(words)
    for name in ELSEWHERE:
        if getattr(found, name) != parser.get_default(name):
            raise ConfigError(
                f"--{name.replace('_', '-')} is an option of the command line that this page does not have. It takes "
                "--smem, --cluster, --arch, --define, --std, --set, --timing, --row, --print and --max-seconds."
            )
    return found


def simulate(source: str, launch: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of a launch. Raises the `SimulatorError` that ended it.

    launch: as for `options_of`; it may have "expected", such as "c = a + b", and "parameters", as the page names them.
    What is open in it, `f32:?`, is found out first. An error in memory gets the attribute `guesses`: sentences on what
    of the launch is only a guess.
    """
    options = options_of(launch)
    defines = dict(map(macro, options.define))
    kernel = compiled_kernel(source, options.entry, options.arch, (), defines, options.std)
    if touched.is_open(options):
        touched.close(kernel, options)
    values, symbols = arguments_of(options), symbols_of(options)
    halves = {*named_of(options, BF16)}
    before = [_readable(value, str(at) in halves) for at, value in enumerate(values)]
    expected = expectation(launch["expected"], launch["parameters"], before) if launch.get("expected") else None
    try:
        done = simulated(
            kernel,
            values,
            defines,
            dict(map(row, options.rows)),
            grid=tuple(options.grid),
            block=tuple(options.block),
            cluster=tuple(options.cluster),
            dynamic_smem_bytes=options.smem,
            timing=options.timing or "early",
            symbols=symbols,
            uninit=named_of(options, UNINIT),
            observers=("hazards",),
            max_seconds=SECONDS if options.max_seconds is None else options.max_seconds,
        )
    except MemoryFault as error:
        nearest = str(error).partition(" and ")[0]  # what follows names the array on the other side
        error.guesses = _guesses(source, launch, values, nearest)
        raise
    found = [note(in_text(one.file, one.line), str(one), in_text) for one in done.hazards]
    card, worst = done.card, [one for one in done.hazards if one.severity != "suspicious"]
    arrays = {name: _readable(one, name in halves) for name, one in arrays_in(values).items()}
    right, where = "", ""
    if expected:
        at, name, wanted = expected
        where = missed(name, arrays[at], wanted, arrays_in(values)[at].itemsize)
        right = f", but {name} is not as expected" if where else f", and {name} is as expected"
    luck = ", and that is luck" if worst and not where else ""
    return {
        "passed": not worst and not where,
        "verdict": f"It ran to its end{right}{luck}." + (f" It differs in {where}." if where else ""),
        "notes": [*found, *(Note(0, one) for one in done.report.remarks if not done.hazards)],
        "heading": "Hazards" if found else "Remarks",
        "summary": " · ".join(f"{label} {value}" for label, value in card.facts if label != "remark"),
        "lines": lines_of(done.lines, in_text),
        "advice": list(card.reasons),
        "arrays": [[name, kind, what, *values_of(arrays[name])] for name, kind, what, _ in card.arrays],
        "printed": [part_of(word, arrays) for word in options.printed],
        "output": done.output,
        "layouts": layouts_of(card.layouts),
        "compiled": done.compiled,
        "counted": True,
    }


def _guesses(source: str, launch: Mapping[str, Any], values: Sequence[Any], fault: str) -> list[str]:
    """A sentence on the arguments that `kernels_of` guesses, if there are any; of arrays, those in the fault."""
    found = kernels_of(source)
    names, own = [one["name"].partition("<")[0] for one in found], launch["kernel"].partition("<")[0]
    guess = found[names.index(own)] if own in names else {"guesses": []}
    said = [
        f"{name_of(guess['parameters'][at])} {f'has {value.size:,} elements' if '?' in word else f'is {word}'}"
        for at, (word, value) in enumerate(zip(launch["args"], values, strict=True))
        if at in guess["guesses"] and word == guess["words"][at] and "{" not in word
        if "?" not in word or re.search(rf"\b{name_of(guess['parameters'][at])}\b", fault)
    ]
    them = ", ".join(said)
    return [f"This is still a guess: {them}. If your program gives something else, write it above."] if said else []


def in_text(file: str | None, line: int) -> int:
    """The line of the editor, which has the whole text; 0 for another file."""
    return line if file is not None and (file == "cell" or file.endswith(".cu")) else 0


def _readable(value: Any, half: bool) -> Any:
    """The value, and in place of the bits of bfloat16 the numbers. half: it has such bits."""
    return value.view(ml_dtypes.bfloat16).astype(np.float32) if half and isinstance(value, np.ndarray) else value
