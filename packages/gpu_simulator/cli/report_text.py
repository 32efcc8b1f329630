"""The report of a launch as text: the source with the cost of each line, and the arrays that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpu_simulator.arithmetic.rounding import bf16_to_f32
from gpu_simulator.kernel_file import KernelFile
from gpu_simulator.report import Report, Totals, sum_of

SHOWN, STRUCTS = 8, 2  # values of an array, or structs of one
AROUND = 2  # lines above the first and below the last that has a cost


def margin(report: Report, file: str, text: str) -> str:
    """The source, with executions, wavefronts, conflict degree and sectors beside every line that was executed."""
    return "\n".join(_rows(report.lines(file), text))


def listing(report: Report, kernel: KernelFile, path: Path) -> tuple[str, str]:
    """(name in the report, text) of the file whose lines have the costs.

    For PTX with .loc that is the source if it can be read, where .file says or beside the .ptx file `path`; otherwise
    it is the PTX itself, whose name ends in .ptx.
    """
    if path.suffix == ".ptx":
        named = Counter(site.outermost[0] for site in report.sites if site.file)
        for name, _ in named.most_common(1):
            for source in (path.parent / str(name), path.parent / Path(str(name)).name):
                if source.is_file():
                    return str(name), source.read_text(encoding="utf-8", errors="replace")
    return kernel.file, kernel.text


def counts_of(report: Report, file: str) -> list[dict[str, Any]]:
    """The counts of each line of a file, for JSON."""
    return [{"line": line, **asdict(cost)} for line, cost in line_costs(report, file).items()]


def short_margin(report: Report, file: str, text: str) -> str:
    """`margin` of the lines that were executed and a few around them. A .ptx file has a cost for each instruction."""
    costs = line_costs(report, file)
    head, *rows = _rows(costs, text)
    first, last = (min(costs), max(costs)) if costs else (1, 0)
    return "\n".join([head, *rows[max(first - 1 - AROUND, 0) : last + AROUND]])


def line_costs(report: Report, file: str) -> dict[int, Totals]:
    """Line of a file -> its totals, as of `Report.lines`; of a .ptx file those of the instruction at that line."""
    if not file.endswith(".ptx"):
        return report.lines(file)
    groups: dict[int, list] = {}
    for site in report.sites:
        groups.setdefault(site.ptx_line, []).append(site)
    return {line: sum_of(sites) for line, sites in groups.items()}


def _rows(costs: dict[int, Totals], text: str) -> list[str]:
    rows = [f"{'executions':>11} {'wavefronts':>11} {'degree':>6} {'sectors':>9}"]
    for number, line in enumerate(text.split("\n"), 1):
        cost = costs.get(number)
        if cost is None:
            rows.append(f"{'':40} {number:>5}  {line}")
            continue
        wavefronts = f"{cost.wavefronts:,}" if cost.wavefronts else ""
        degree = "" if cost.conflict_degree is None else f"{cost.conflict_degree:.1f}"
        rows.append(f"{cost.executions:>11,} {wavefronts:>11} {degree:>6} {cost.sectors or '':>9} {number:>5}  {line}")
    return rows


def changes(
    before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray], halves: Container[str] = ()
) -> list[str]:
    """A line for each array, by the number of its argument or its name: its first values if the kernel changed it.

    halves: those that hold the bits of bfloat16.
    """
    lines = []
    for number, new in after.items():
        name = f"argument {number}" if number[0].isdecimal() else number
        kind, numbers = ("bfloat16", bf16_to_f32(new)) if number in halves else (_kind(new.dtype), new)
        what = f"{name}, {kind}:{'x'.join(map(str, new.shape))}"
        lines.append(f"{what}: {_values(numbers)}" if changed(before[number], new) else f"{what}: unchanged")
    return lines


def _kind(dtype: np.dtype) -> str:
    """The type of the elements in words; of structs their members, as the words of an argument have them."""
    if dtype.names is None:
        base, shape = dtype.subdtype or (dtype, ())
        return f"{base}{''.join(f':{count}' for count in shape)}"
    return f"{{{', '.join(f'{name}={_kind(dtype[name])}' for name in dtype.names)}}}"


def changed(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether any bit differs."""
    return old.tobytes() != new.tobytes()


def _values(array: np.ndarray) -> str:
    flat = array.reshape(-1)
    if array.dtype.names:
        return " ".join(map(str, flat[:STRUCTS])) + (" …" if flat.size > STRUCTS else "")
    words = [f"{value:.6g}" if array.dtype.kind == "f" else str(value) for value in flat[:SHOWN].tolist()]
    return " ".join(words) + (" …" if flat.size > SHOWN else "")
