"""Kernels that are no part of the catalogue: which ones a text has, and one of them launched as on the command line."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import ml_dtypes
import numpy as np
from sentences import Note, note
from shown import expectation, layouts_of, lines_of, missed, values_of

import gemm_lab as lab
from gpu_simulator.cli.argument_words import BF16, UNINIT, WORDS, word_of_structs
from gpu_simulator.cli.array_parts import part_of
from gpu_simulator.cli.command_line import add_options, arguments_of, macro, named_of, row, symbols_of
from gpu_simulator.compiler.device_code import device_code
from gpu_simulator.errors import ConfigError
from gpu_simulator.machine.argument_structs import arrays_in
from gpu_simulator.ptx.parameter_types import declared
from gpu_simulator.ptx.struct_types import Member, members, size_of

FILE = "kernel.cu"
# Options of the command line that have no meaning in a page: files, and what is shown in any case.
ELSEWHERE = ("include", "counts", "layouts", "format", "compare", "save", "max_instructions")
SECONDS = 20.0  # of processor time after which a launch is stopped, unless --max-seconds gives others
FIELD = r"the field “\1”"
COUNT, SIDE = 1024, 64  # elements of an array that nobody has described, or of a side of it; also whole numbers
TYPES = (
    (r"(?:float|double|int|uint|half|longlong)([234])\b", ""),  # a vector type; its extent stands behind the count
    (r"\b(?:__nv_)?bfloat16|\bbf16", "bf16"),
    (r"\bhalf|\b__half", "f16"),
    (r"\bdouble", "f64"),
    (r"\bfloat", "f32"),
    (r"\bunsigned\s+char|\buint8_t|\buchar|\bbool", "u8"),
    (r"\bchar|\bint8_t", "i8"),
    (r"\bunsigned\s+short|\buint16_t|\bushort", "u16"),
    (r"\bshort|\bint16_t", "i16"),
    (r"\bunsigned\s+long|\buint64_t|\bsize_t", "u64"),
    (r"\blong|\bint64_t", "i64"),
    (r"\bunsigned|\buint", "u32"),
    (r"\bint", "i32"),
)


def kernels_of(source: str) -> list[dict[str, Any]]:
    """The kernels of a text in their order: {name, parameters, words, grid, block}.

    words: for each parameter, what the kernel could be launched with. An array has an element for each thread.
    """
    code, flat = device_code(Path(FILE), source), not re.search(r"threadIdx\s*\.\s*y", source)
    return [
        {
            "name": name + _instance(name, code.templates.get(name, ""), source),
            "parameters": list(code.parameters[name]),
            "words": [_word(parameter, flat, source) for parameter in code.parameters[name]],
            "grid": "4" if flat else "4,4",
            "block": "256" if flat else "16,16",
        }
        for name in code.kernels
    ]


def _instance(name: str, template: str, source: str) -> str:
    """The arguments of a template as the text itself gives them somewhere, else some that may fit."""
    if not template:
        return ""
    if used := re.search(rf"\b{name}\s*(<[^<>;(){{}}]*>)\s*(?:<<<|\()", source):
        return used[1]
    words = [
        "float" if re.match(r"\s*(?:typename|class)\b", one) else "true" if "bool" in one else "16"
        for one in template.split(",")
        if "=" not in one
    ]
    return f"<{', '.join(words)}>"


def _word(parameter: str, flat: bool, source: str) -> str:
    """An argument for a parameter, as --arg takes it: data for what the kernel reads, zeros for what it may write.

    A struct of the source has a word for each member.
    """
    plain = declared(parameter).type
    if parts := members(plain.rstrip("*"), source):
        if not plain.endswith("*"):
            return f"{{{', '.join(_member(one, flat, source) for one in parts)}}}"
        if word := word_of_structs(plain.rstrip("*"), source):
            return f"{word}:{COUNT}" + ":random" * bool(re.search(r"\bconst\b", parameter))
    kind, extent = "f32", ""
    for pattern, word in TYPES:
        if found := re.search(pattern, parameter):
            if not word:
                extent = f"x{found[1]}"
                continue
            kind = word
            break
    if "*" in parameter or "[" in parameter:
        shape = f"{COUNT}" if flat else f"{SIDE}x{SIDE}"
        return f"{kind}:{shape}{extent}" + (":random" if re.search(r"\bconst\b.*[*[]", parameter) else "")
    if kind in ("f16", "bf16"):
        return f"{kind}=1.0"
    return "1.0" if kind in ("f32", "f64") else str(COUNT if flat else SIDE)


def _member(part: Member, flat: bool, source: str) -> str:
    """A word for a member of a struct, which tells its type; its bytes, all 0, if it is an array or a vector."""
    if part.count or (part.type not in WORDS and not part.type.endswith("*") and not members(part.type, source)):
        return f"bytes={'00' * size_of(part.type, source) * max(1, part.count)}"
    word = _word(f"{'const ' * part.const}{part.type} {part.name}", flat, source)
    return word if part.type not in WORDS or "=" in word else f"{WORDS[part.type]}={word}"


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
        words += shlex.split(launch.get("more", ""))
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
    """
    options = options_of(launch)
    values, symbols = arguments_of(options), symbols_of(options)
    halves = {*named_of(options, BF16)}
    before = [_readable(value, str(at) in halves) for at, value in enumerate(values)]
    expected = expectation(launch["expected"], launch["parameters"], before) if launch.get("expected") else None
    done = lab.simulate(
        source,
        options.entry,
        options.grid,
        options.block,
        values,
        dynamic_smem_bytes=options.smem,
        cluster=options.cluster,
        arch=options.arch,
        timing=options.timing or "early",
        rows=dict(map(row, options.rows)),
        defines=dict(map(macro, options.define)),
        std=options.std,
        symbols=symbols,
        uninit=named_of(options, UNINIT),
        max_seconds=SECONDS if options.max_seconds is None else options.max_seconds,
    )
    if done.error:
        raise done.error
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


def in_text(file: str | None, line: int) -> int:
    """The line of the editor, which has the whole text; 0 for another file."""
    return line if file is not None and (file == "cell" or file.endswith(".cu")) else 0


def _readable(value: Any, half: bool) -> Any:
    """The value, and in place of the bits of bfloat16 the numbers. half: it has such bits."""
    return value.view(ml_dtypes.bfloat16).astype(np.float32) if half and isinstance(value, np.ndarray) else value
