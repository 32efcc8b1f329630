"""`gemm-lab emulate FILE`: run any .cu or .ptx file on the emulator and show what each line cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gpu_simulator as emulator
from gemm_lab import compiling
from gemm_lab.measure.line_costs import line_costs
from gpu_simulator.errors import ConfigError
from gpu_simulator.memory_limit import in_words, limit_bytes

MOST_CHARACTERS = 8_000_000
DTYPES = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "bf16": "uint16",
}
_ARRAY = re.compile(r"^(?P<dtype>\w+)\[(?P<count>[\d_]+)\](?:=(?P<fill>zeros|ones|arange|random))?$")


def argument(text: str, seed: int = 0) -> Any:
    """One kernel argument: `5`, `1.5`, `f32[1024]`, `f32[1024]=random` (zeros, ones, arange, random) or a .npy file."""
    if text.endswith(".npy"):
        try:
            return np.load(text)
        except (OSError, ValueError, EOFError) as error:
            raise ConfigError(f"{text} cannot be read: {error}.") from None
    match = _ARRAY.match(text)
    if match and match["dtype"] in DTYPES:
        count, dtype = int(match["count"]), np.dtype(DTYPES[match["dtype"]])
        if count * dtype.itemsize > limit_bytes(None):
            raise ConfigError(
                f"“{text}” would take {in_words(count * dtype.itemsize)} of memory, and "
                f"{in_words(limit_bytes(None))} may be used."
            )
        random = np.random.default_rng(seed)
        if match["fill"] == "random" and dtype.kind == "f":
            return random.standard_normal(count).astype(dtype)
        if match["fill"] == "random":
            return random.integers(0, 100, count).astype(dtype)
        return {"ones": np.ones, "arange": np.arange}.get(match["fill"] or "", np.zeros)(count, dtype=dtype)
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    raise ConfigError(
        f"“{text}” is not an argument; write 5, 1.5, f32[1024], f32[1024]=random or data.npy. "
        f"Types: {', '.join(DTYPES)}."
    )


def emulate_file(
    path: Path,
    arguments: Sequence[str],
    grid: Sequence[int],
    block: Sequence[int],
    *,
    entry: str | None = None,
    arch: str = "sm_80",
    smem: int = 0,
    hazards: bool = False,
    timing: str = "early",
    max_instructions: int | None = None,
    max_seconds: float | None = None,
):
    """(report, arrays, source text) of one launch of a .cu file (compiled for `arch`) or a .ptx file.

    max_instructions, max_seconds: as for `emulator.launch`; without them only Ctrl-C ends a launch.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
        if len(text) > MOST_CHARACTERS:
            raise ConfigError(f"{path} has more than {MOST_CHARACTERS:,} characters; a kernel has fewer.")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from None
    values = [argument(word, seed) for seed, word in enumerate(arguments)]
    if path.suffix == ".ptx":
        program = text
    else:
        name = entry or _only_kernel(text)
        program = compiling.compile(text, arch=arch, name=path.stem, entry=name)
        entry = name
    report = emulator.launch(
        program,
        entry,
        tuple(grid),
        tuple(block),
        values,
        smem,
        hazards=hazards,
        timing=timing,
        max_instructions=max_instructions,
        max_seconds=max_seconds,
    )
    return report, [value for value in values if isinstance(value, np.ndarray)], text


def margin(report, file: str, text: str) -> str:
    """The source with executions, wavefronts, conflict degree and sectors beside every line that ran."""
    rows = [f"{'executions':>11} {'wavefronts':>11} {'degree':>6} {'sectors':>9}"]
    costs = line_costs(report, file)
    for number, line in enumerate(text.split("\n"), 1):
        cost = costs.get((file, number))
        if cost is None:
            rows.append(f"{'':40} {number:>5}  {line}")
            continue
        wavefronts = f"{cost.wavefronts:,}" if cost.wavefronts else ""
        degree = f"{cost.degree:.1f}" if cost.degree is not None else ""
        rows.append(f"{cost.executions:>11,} {wavefronts:>11} {degree:>6} {cost.sectors or '':>9} {number:>5}  {line}")
    return "\n".join(rows)


def _only_kernel(text: str) -> str:
    names = re.findall(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)', text)
    if len(names) != 1:
        found = f"found {', '.join(names)}" if names else 'found no extern "C" __global__ function'
        raise ConfigError(f"Say which kernel to run with --entry ({found}).")
    return names[0]
