"""`python -m gpu_simulator FILE.cu …`: run one kernel of a file; show its results, its costs and its hazards."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpu_simulator import __version__
from gpu_simulator.arithmetic.rounding import bf16_to_f32
from gpu_simulator.cli.argument_words import BF16, DTYPES, FORMS, UNINIT, argument, named_arrays, word_of_structs
from gpu_simulator.cli.array_parts import NUMBER, array_named, difference, part_of, reference
from gpu_simulator.cli.formats import ERROR, FORMATS, NOTE, Finding, Outcome
from gpu_simulator.cli.progress import Progress
from gpu_simulator.cli.report_text import changed, changes, counts_of, listing, short_margin
from gpu_simulator.cli.terminal import exit_code
from gpu_simulator.codegen.program import program_of
from gpu_simulator.errors import ConfigError, SimulatorError
from gpu_simulator.kernel_file import COMPILERS, KernelFile, kernel_file, signatures
from gpu_simulator.launch_checks import check_structs, misfit_structs, misfits
from gpu_simulator.launching import Launch, launch
from gpu_simulator.layouts.recorded_accesses import RecordedAccesses
from gpu_simulator.layouts.sentences import lines
from gpu_simulator.layouts.studied_launch import studied
from gpu_simulator.machine.argument_structs import arrays_in
from gpu_simulator.observers.severities import SUSPICIOUS
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.ir import Variable
from gpu_simulator.report import Report

PAGE = Path(__file__).parents[1] / "TESTING.md"
DESCRIPTION = "Run a kernel of a .cu or .ptx file without a GPU: its results, what each line cost, its races."
EXAMPLE = f"""example, for __global__ void add(const float* a, const float* b, float* sum, int n):
  python -m gpu_simulator add.cu --grid 4 --block 256 \\
      --arg f32:1000:random --arg f32:1000:random --arg f32:1000 --arg 1000 --hazards --save sum.npy

The exit code is 0 if the kernel ran and nothing is wrong (what is only suspicious is a remark), 1 if a hazard, a fault
or a difference was found, and 2 if it did not run: no file, no compiler, wrong arguments, or it does not compile.

Tests of kernels with pytest and in CI: {PAGE}"""


def main(words: Sequence[str] | None = None) -> int:
    """Run one file and return the exit code; an error is printed to stderr as a sentence."""
    parser = argparse.ArgumentParser(
        prog="python -m gpu_simulator",
        description=DESCRIPTION,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gpu_simulator {__version__}")
    add_options(parser)
    words = sys.argv[1:] if words is None else words

    def command() -> int:
        if {"-h", "--help"} & set(words):
            parser.epilog = f"{kernels_of(words)}{EXAMPLE}"
        return run(parser.parse_args(words))

    return exit_code("gpu_simulator", command)


def kernels_of(words: Sequence[str]) -> str:
    """The kernels of the file that a command line names, with their parameters; "" without a file."""
    path = next((Path(word) for word in words if word.endswith((".cu", ".ptx")) and Path(word).is_file()), None)
    found = signatures(path) if path else []
    return "".join([f"kernels of {path}:\n", *(f"  {one}\n" for one in found), "\n"]) if found else ""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `run` uses."""
    add = parser.add_argument
    add("file", type=Path, help="a .cu file, which may have host code, too, or a .ptx file")
    add(
        "--kernel",
        "--entry",
        dest="entry",
        metavar="NAME",
        help="the kernel, of a template 'name<float, 32>'; default: the only one",
    )
    add("--grid", type=_extent, default=[1], metavar="X[,Y[,Z]]", help="blocks; default: 1")
    add("--block", type=_extent, default=[32], metavar="X[,Y[,Z]]", help="threads of a block; default: 32")
    add("--cluster", type=_extent, default=[1], metavar="X[,Y[,Z]]", help="blocks of a cluster; default: 1")
    add("--arg", dest="arguments", action="append", default=[], metavar="VALUE", help=f"repeat in order: {FORMS}")
    add(
        "--set",
        dest="symbols",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="contents of a __constant__ or __device__ variable, written as for --arg: filter=f32:9:random",
    )
    add("--smem", type=int, default=0, metavar="BYTES", help="dynamic shared memory")
    add("--arch", default="sm_80", help="what a .cu file is compiled for; default: sm_80")
    add("-I", "--include", type=Path, action="append", default=[], metavar="FOLDER", help="with headers of a .cu file")
    add("-D", "--define", action="append", default=[], metavar="NAME[=VALUE]", help="a macro of a .cu file")
    add("--compiler", choices=COMPILERS, help="of a .cu file; default: nvrtc where it is installed, or clang")
    add("--std", default=None, metavar="C++", help="the C++ standard, such as c++20; default: c++17, or what is needed")
    add("--hazards", action="store_true", help="look for races and missing waits")
    add(
        "--timing",
        choices=("early", "late"),
        help="when asynchronous copies land, and (late) whether blocks that wait for each other run unevenly; default: "
        "early, and --hazards tries late as well",
    )
    add(
        "--exact",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="sum as the architecture's tensor cores do, to the bit, or in float32; default: exact for FP8 only",
    )
    add("--counts", action="store_true", help="show what each line cost")
    add("--layouts", action="store_true", help="try paddings and swizzles of the shared arrays, and show the best")
    add(
        "--row",
        dest="rows",
        action="append",
        default=[],
        metavar="NAME=ELEMENTS",
        help="elements of a row of a shared array that is not declared with two extents; for --layouts",
    )
    add(
        "--format",
        choices=tuple(FORMATS),
        default="text",
        help="text for people, json, github (annotations of a workflow), sarif or junit; default: text",
    )
    add("--max-instructions", type=int, default=None, metavar="N", help="warp instructions after which it is stopped")
    add("--max-seconds", type=float, default=None, metavar="S", help="of processor time after which it is stopped")
    add(
        "--print",
        dest="printed",
        action="append",
        default=[],
        metavar="N[SLICE]",
        help="values of argument N (the first is 0) after the launch: 2, 2[0:8] or 2[3,4:]",
    )
    add(
        "--compare",
        action="append",
        default=[],
        metavar="N=FILE.npy",
        help="compare argument N with a reference; the exit code is 1 if they differ",
    )
    add(
        "--tolerance",
        type=float,
        default=0.0,
        metavar="T",
        help="allowed |a - b| / max(1, |b|) in --compare; default: 0",
    )
    add(
        "--save",
        action="append",
        default=[],
        metavar="PLACE",
        help="out.npy for the array that changed, 2=out.npy for argument 2 (the first is 0), "
        "NAME=out.npy for a variable of --set, or a folder for all",
    )


def _extent(text: str) -> list[int]:
    try:
        return [int(part) for part in re.split("[,x]", text)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 4, 4,2 or 4,2,1") from None


def run(options: argparse.Namespace, include: Sequence[Path] = (), cache: Path | None = None) -> int:
    """Run the file, print what was found, and return the exit code. include: folders with headers.

    Raises `SimulatorError` for what ended the command, after what was found until then is printed.
    """
    outcome = Outcome(options.file, [*options.include, *include])
    ended = None
    try:
        _examine(options, outcome, cache)
    except SimulatorError as error:
        outcome.add_error(error)
        outcome.kernel = outcome.kernel or _meant(options)
        ended = error
    if written := FORMATS[options.format](outcome, __version__):
        print(written)
    if ended is not None:
        raise ended
    return outcome.code


def _examine(options: argparse.Namespace, outcome: Outcome, cache: Path | None) -> None:
    """Run the kernel in both timings if need be, and put into `outcome` what is asked for."""
    values = arguments_of(options)
    defines = dict(macro(word) for word in options.define)
    chosen = {"std": options.std, "using": options.compiler}
    kernel = kernel_file(options.file, options.entry, options.arch, outcome.folders, defines, cache, **chosen)
    outcome.kernel, outcome.own = source_name(kernel.entry), kernel.file
    _check_count(kernel, values)
    _check_types(options, kernel, values)
    symbols = symbols_of(options)
    arrays = arrays_in(values)
    references = [reference(word, arrays) for word in options.compare]
    variables = {name: array for name, array in symbols.items() if isinstance(array, np.ndarray)}
    before, filled = {}, {}

    def keep() -> None:
        before.update({key: array.copy() for key, array in arrays.items()})
        filled.update({key: array.copy() for key, array in variables.items()})

    recorded = RecordedAccesses() if options.layouts else None
    report = _launch(options, kernel, values, symbols, options.timing or "early", keep, recorded)
    hazards = [(hazard, "") for hazard in report.hazards]
    if options.hazards and not any(one.severity != SUSPICIOUS for one in report.hazards) and not options.timing:
        known = {(hazard.kind, hazard.ptx_line) for hazard in report.hazards}
        late = _launch(options, kernel, arguments_of(options), symbols_of(options), "late")
        hazards += [(one, "late") for one in late.hazards if (one.kind, one.ptx_line) not in known]
    say, facts = outcome.text.append, outcome.facts
    if options.counts:
        file, text = listing(report, kernel, options.file)
        say(short_margin(report, file, text))
        facts["lines"] = counts_of(report, file)
    say(str(report))
    facts["counts"] = {"instructions": report.instructions, **asdict(report.totals)}
    filled_words = (word.partition("=") for word in options.symbols)
    halves = {*named_of(options, BF16), *(name for name, _, value in filled_words if re.search(BF16, value))}
    shown = {number: bf16_to_f32(array) if number in halves else array for number, array in arrays.items()}
    outcome.text += [*changes(before, arrays, halves), *changes(filled, variables, halves)]
    if report.output:
        say(f"printed by the kernel:\n{report.output}")
    facts["output"] = report.output
    for hazard, timing in hazards:
        outcome.add_hazard(hazard, timing)
        say(f"hazard ({hazard.severity}{f' in {timing} timing' if timing else ''}): {hazard}")
    for said in report.remarks:
        say(f"remark: {said}")
        outcome.findings.append(Finding("remark", NOTE, said))
    if options.hazards and not hazards:
        say("no hazards found in this launch")
    if recorded is not None:
        _layouts(outcome, report, kernel, recorded, defines, dict(map(row, options.rows)))
    facts["values"] = [part_of(word, shown) for word in options.printed]
    outcome.text += facts["values"]
    differ = [line for one in references if (line := difference(one, arrays, options.tolerance, shown))]
    outcome.text += differ
    outcome.findings += [Finding("difference", ERROR, line, options.file.as_posix()) for line in differ]
    if options.compare and not differ:
        say("equal to the reference")
    for place in options.save:
        _save(place, before, arrays, variables)


def _meant(options: argparse.Namespace) -> str:
    """The kernel of a command that did not come so far as to compile it; "" if the file may have several, or none."""
    with suppress(SimulatorError):
        found = [options.entry] if options.entry else signatures(options.file)
        return re.split("[<(]", found[0])[0].strip() if len(found) == 1 else ""
    return ""


def _layouts(
    outcome: Outcome,
    report: Report,
    kernel: KernelFile,
    recorded: RecordedAccesses,
    defines: Mapping[str, str],
    rows: Mapping[str, int],
) -> None:
    """Try other layouts of the shared arrays, and say what they would cost."""
    found = studied(report, kernel, recorded, defines, rows)
    outcome.facts["layouts"] = [
        {
            "array": study.array.title,
            "wavefronts": study.total,
            "excess": study.excess,
            "why_not": study.why_not,
            "best": [
                {
                    "layout": one.layout.title,
                    "code": one.layout.code,
                    "bytes": one.layout.bytes,
                    "wavefronts": one.total,
                }
                for one in study.best
            ],
        }
        for study in found
    ]
    outcome.text += [line for study in found for line in lines(study)] or ["The kernel uses no shared array."]


def arguments_of(options: argparse.Namespace) -> list:
    """The arguments of the launch; the same values each time."""
    return [argument(word, seed) for seed, word in enumerate(options.arguments)]


def named_of(options: argparse.Namespace, pattern: str) -> list[str]:
    """The names of the arguments, and of members, whose words fit a pattern of `argument_words`."""
    return [name for at, word in enumerate(options.arguments) for name in named_arrays(pattern, word, str(at))]


def symbols_of(options: argparse.Namespace) -> dict[str, Any]:
    """The contents of variables by name; the same values each time."""
    found = {}
    for seed, word in enumerate(options.symbols, len(options.arguments)):
        name, _, value = word.partition("=")
        if not value or not name:
            raise ConfigError(
                f"--set {word} gives no {'value' if name else 'name'}; write --set NAME=VALUE, with a value as for "
                f"--arg: {FORMS}."
            )
        if name in found:
            raise ConfigError(f"--set {word}: {name} has a value already; give each variable once.")
        if named_arrays(UNINIT, value, name):
            raise ConfigError(f"--set {word}: a variable is never uninitialised; give its contents.")
        found[name] = argument(value, seed)
    return found


def _launch(
    options: argparse.Namespace,
    kernel: KernelFile,
    values: list,
    symbols: dict[str, Any],
    timing: str,
    before: Callable = lambda: None,
    recorded: RecordedAccesses | None = None,
) -> Report:
    """Launch the kernel. before: called when it is known that the launch fits into memory, and before it begins.

    recorded: gets the accesses for the study of layouts.
    """
    with Progress() as progress:

        def begin(run: Launch) -> None:
            before()
            progress.begin(run)

        return launch(
            kernel.program,
            kernel.entry,
            tuple(options.grid),
            tuple(options.block),
            values,
            options.smem,
            tuple(options.cluster),
            observers=[*(["hazards"] if options.hazards else []), *([recorded.observe] if recorded else [])],
            timing=timing,
            exact=options.exact,
            max_instructions=options.max_instructions,
            max_seconds=options.max_seconds,
            symbols=symbols,
            uninit=named_of(options, UNINIT),
            on_start=begin,
        )


def macro(word: str) -> tuple[str, str]:
    """A word of --define as (name, value); without a value it is 1. Raises `ConfigError`."""
    name, _, value = word.partition("=")
    if not name.isidentifier():
        raise ConfigError(f"--define {word} is not a macro; write --define NAME or --define NAME=VALUE.")
    return name, value if "=" in word else "1"


def row(word: str) -> tuple[str, int]:
    """A word of --row as (shared array, elements of its row). Raises `ConfigError`."""
    name, _, count = word.partition("=")
    if not name or not count.isdecimal():
        raise ConfigError(f"--row {word} names no row; write --row NAME=ELEMENTS, such as --row tile=32.")
    return name, int(count)


def _check_count(kernel: KernelFile, values: list[Any]) -> None:
    """Raise `ConfigError`, with a list of the parameters, if the number of arguments is wrong."""
    ptx = kernel.program if isinstance(kernel.program, str) else kernel.program.ptx
    expected = program_of(ptx, kernel.entry).parameters
    if len(values) != len(expected):
        declared = kernel.parameters if len(kernel.parameters) == len(expected) else [""] * len(expected)
        takes = ", ".join(map(_parameter, declared, expected)) or "no arguments"
        raise ConfigError(
            f"{source_name(kernel.entry)} takes {len(expected)} arguments ({takes}), and {len(values)} were given; "
            f"write one --arg for each, in order: {FORMS}."
        )


def _check_types(options: argparse.Namespace, kernel: KernelFile, values: list[Any]) -> None:
    """Raise `ConfigError` for an array of another type than the kernel's parameter points to; see `check_structs`."""
    check_structs(kernel.entry, kernel.text, values)
    for number, parameter, meant in misfits(kernel.entry, kernel.text, values):
        word, name = options.arguments[number], source_name(kernel.entry)
        held = f", an array of {values[number].dtype}," if word.endswith(".npy") else ""
        wanted = next(kind for kind in DTYPES if meant in (DTYPES[kind], "bfloat16" if kind == "bf16" else ""))
        raise ConfigError(
            f"“{word}”{held} does not fit argument {number}: {name} takes {parameter.type} there, so give an array of "
            f"type {wanted}."
        )
    for number, parameter, size in misfit_structs(kernel.entry, kernel.text, values):
        word, kind = options.arguments[number], parameter.type.removesuffix("*")
        wanted, held = word_of_structs(kind, kernel.text), values[number]
        advice = f"; write {wanted}:{held.size}" if wanted else ". Give each member its type, in order"
        raise ConfigError(
            f"“{word}” does not fit argument {number}: its structs have {held.dtype.itemsize} bytes each, and "
            f"{source_name(kernel.entry)} takes {parameter.type} there, of {size}{advice}."
        )


def _parameter(declared: str, parameter: Variable) -> str:
    """A parameter as the source declares it; without a source, in words."""
    if parameter.type == "b8":
        return f"{declared}, a struct of {parameter.size} bytes".removeprefix(", ")
    if declared:
        return declared
    return "u64 or a pointer" if parameter.type in ("u64", "b64") else parameter.type


def _save(
    place: str,
    before: Mapping[str, np.ndarray],
    arrays: Mapping[str, np.ndarray],
    variables: Mapping[str, np.ndarray],
) -> None:
    """Write arrays to .npy files. place: the value of --save."""
    number, given, path = place.partition("=")
    if given and re.fullmatch(NUMBER, number):
        files = {Path(path): array_named(place, "--save", number, arrays)}
    elif given and number in variables:
        files = {Path(path): variables[number]}
    elif given and number.isidentifier():
        known = ", ".join(variables) or "none"
        raise ConfigError(f"--save {place}: {number} is no variable that --set gives an array; these are: {known}.")
    elif place.endswith(".npy"):
        new = [number for number in arrays if changed(before[number], arrays[number])]
        if len(new) != 1:
            which = f"changed arguments {', '.join(new)}" if new else "changed no array"
            raise ConfigError(f"--save {place}: the kernel {which}; say which to save, as in --save 0={place}.")
        files = {Path(place): arrays[new[0]]}
    else:
        files = {Path(place) / f"array{number}.npy": array for number, array in arrays.items()}
    for file, array in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, array)
        except OSError as error:
            raise ConfigError(f"The arrays cannot be written to {place}: {error.strerror}.") from None
