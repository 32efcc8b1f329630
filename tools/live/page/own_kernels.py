"""Kernels that are no part of the catalogue: which ones a text has, and one of them launched as on the command line."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import ml_dtypes
import numpy as np
import touched
from guessing import FILE, kernels_of, name_of
from sentences import Note, note

from gemm_lab.cards.layout_table import LayoutTable
from gemm_lab.cards.simulated_lines import SimulatedLine
from gemm_lab.lab.simulate import SECONDS, simulated
from gpu_simulator.cli.argument_words import BF16, UNINIT
from gpu_simulator.cli.array_parts import part_of
from gpu_simulator.cli.command_line import add_options, arguments_of, macro, named_of, row, symbols_of
from gpu_simulator.errors import ConfigError
from gpu_simulator.faults import MemoryFault
from gpu_simulator.layouts.sentences import notes, verdict
from gpu_simulator.machine.argument_structs import arrays_in
from gpu_simulator.simulating import compiled_kernel

# Options of the command line that have no meaning in a page: files, and what is shown in any case.
ELSEWHERE = ("include", "counts", "layouts", "format", "compare", "save", "max_instructions")


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"The launch cannot be read: {message}.")


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
    """What the page shows of a launch. Raises the `SimulatorError` that ended it. launch: as for `options_of`.

    What is open in it, `f32:?`, is found out first. An error in memory gets the attribute `guesses`: sentences on what
    of the launch is only a guess.
    """
    options = options_of(launch)
    defines = dict(map(macro, options.define))
    kernel = compiled_kernel(source, options.entry, options.arch, (), defines, options.std)
    if touched.is_open(options):
        touched.close(kernel, options)
    values, symbols = arguments_of(options), symbols_of(options)
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
        error.guesses = _guesses(source, launch, values)
        raise
    found = [note(in_text(one.file, one.line), str(one), in_text) for one in done.hazards]
    card, worst = done.card, [one for one in done.hazards if one.severity != "suspicious"]
    halves = {*named_of(options, BF16)}
    arrays = {
        name: one.view(ml_dtypes.bfloat16).astype(np.float32) if name in halves else one
        for name, one in arrays_in(values).items()
    }
    return {
        "passed": not worst,
        "verdict": "It ran to its end." if not worst else "It ran to its end, and that is luck.",
        "notes": [*found, *(Note(0, one) for one in done.report.remarks if not done.hazards)],
        "heading": "Hazards" if found else "Remarks",
        "summary": " · ".join(f"{label} {value}" for label, value in card.facts if label != "remark"),
        "lines": lines_of(done.lines, in_text),
        "advice": list(card.reasons),
        "arrays": [
            [name, kind, what, _first(arrays[name]) if name in halves else shown]
            for name, kind, what, shown in card.arrays
        ],
        "printed": [part_of(word, arrays) for word in options.printed],
        "output": done.output,
        "layouts": layouts_of(card.layouts),
        "compiled": done.compiled,
        "counted": True,
    }


def _guesses(source: str, launch: Mapping[str, Any], values: Sequence[Any]) -> list[str]:
    """A sentence on the arguments that are what `kernels_of` guesses, if there are any."""
    found = kernels_of(source)
    names = [one["name"].partition("<")[0] for one in found]
    own = launch["kernel"].partition("<")[0]
    guess = found[names.index(own)] if own in names else {"guesses": []}
    said = [
        f"{name_of(guess['parameters'][at])} {f'has {value.size:,} elements' if '?' in word else f'is {word}'}"
        for at, (word, value) in enumerate(zip(launch["args"], values, strict=True))
        if at in guess["guesses"] and word == guess["words"][at] and "{" not in word
    ]
    them = ", ".join(said)
    return [f"This is still a guess: {them}. If your program gives something else, write it above."] if said else []


def lines_of(lines: Iterable[SimulatedLine], own: Callable[[str | None, int], int]) -> list[dict[str, Any]]:
    """What the page shows of lines. own: a file and its line -> the line of the editor, or 0."""
    return [
        {
            "line": own(line.file, line.number) or line.number,
            "here": bool(own(line.file, line.number)),
            "text": line.text.strip(),
            "wavefronts": line.wavefronts,
            "ideal": line.ideal_wavefronts,
            "sectors": line.sectors,
            "least_sectors": line.least_sectors,
        }
        for line in lines
    ]


def layouts_of(tables: Iterable[LayoutTable]) -> list[dict[str, Any]]:
    """What the page shows of the layouts that were tried."""
    return [
        {
            "says": verdict(one.study),
            "header": one.table().header if one.study.best else [],
            "rows": one.table().rows if one.study.best else [],
            "notes": " ".join(notes(one.study)),
        }
        for one in tables
    ]


def in_text(file: str | None, line: int) -> int:
    """The line of the editor, which has the whole text; 0 for another file."""
    return line if file is not None and (file == "cell" or file.endswith(".cu")) else 0


def _first(array: Any, most: int = 6) -> str:
    return " ".join(f"{value:.6g}" for value in array.reshape(-1)[:most].tolist()) + " …" * (array.size > most)
