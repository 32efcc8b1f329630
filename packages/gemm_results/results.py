"""The recorded measurements: `results/measured/<gpu>.csv`, one row per kernel, configuration, regime and size.

`results/measured/raw/<gpu>.jsonl` has the samples from which the rows were computed, one JSON object per line.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

from gemm_results.data_folders import data_dir
from gemm_results.errors import LabError
from gemm_results.profile import numbered_rows, typed
from gpu_simulator.hardware import data_sheets as hardware


@dataclass(frozen=True)
class Measurement:
    """One kernel at one size in one regime: the columns of `results/measured/<gpu>.csv`, then the raw samples.

    Speeds are TFLOPS, as median and quartiles. Ratios are medians over rounds, or None if the run had no such baseline
    or no ceiling. `sm_clock_mhz` and `power_w` are medians of NVML's readings. In the burst regime these include the
    pauses, so the clock during the launches may be lower. `samples_ms`: milliseconds per launch, one per round.
    """

    kernel: str
    ladder: str
    config: str
    regime: str
    m: int
    n: int
    k: int
    dtype: str
    tflops: float
    tflops_low: float
    tflops_high: float
    cublas_tflops: float | None
    ratio_cublas: float | None
    cublaslt_tflops: float | None
    ratio_cublaslt: float | None
    ceiling_tflops: float | None
    ratio_ceiling: float | None
    rounds: int
    sm_clock_mhz: float
    power_w: float
    gpu: str
    driver: str
    cuda: str
    commit: str
    date: str
    samples_ms: tuple[float, ...] = field(default=(), repr=False, compare=False)

    @property
    def label(self) -> str:
        """The conditions in one line, such as "H200, driver 580.159, CUDA 13.0, 1,755 MHz, commit abc1234"."""
        name = self.gpu.removeprefix("NVIDIA ").removeprefix("Tesla ")
        return f"{name}, driver {self.driver}, CUDA {self.cuda}, {self.sm_clock_mhz:,.0f} MHz, commit {self.commit}"


COLUMNS = tuple(column.name for column in fields(Measurement) if column.name != "samples_ms")
MAY_BE_EMPTY = {"ladder", "config", "cublas_tflops", "ratio_cublas"}
MAY_BE_EMPTY |= {"cublaslt_tflops", "ratio_cublaslt", "ceiling_tflops", "ratio_ceiling"}
KEY = ("kernel", "ladder", "config", "regime", "m", "n", "k", "dtype")
BASES = {name: name.replace("ratio_", "") + "_tflops" for name in ("ratio_cublas", "ratio_cublaslt", "ratio_ceiling")}
RAW_COLUMNS = (*KEY, "date", "commit", "samples_ms")
# A ratio is a median over rounds, so it differs from that of the medians: by at most 4 % in all that is recorded.
APART = 0.1


def path_of(gpu: str) -> Path:
    """The results file of a GPU, given its key or name ("h200", "NVIDIA H200")."""
    return data_dir("results") / "measured" / f"{hardware.gpu(gpu).key}.csv"


def path_for(present: hardware.Present, folder: Path | None = None) -> Path:
    """The results file of the GPU in this machine. For a GPU without a data sheet here, it has the GPU's own name."""
    key = present.gpu.key if present.gpu else re.sub(r"[^a-z0-9]+", "_", present.name.lower()).strip("_")
    return (folder or data_dir("results") / "measured") / f"{key}.csv"


def read(path: Path) -> list[Measurement]:
    """The rows of a file; an empty list if there is no file.

    Raises `LabError`, with the line, for a row that does not fit the columns or their types, and for numbers that
    contradict each other.
    """
    return list(_rows(path, path.read_bytes())) if path.is_file() else []


@lru_cache(maxsize=8)
def _rows(path: Path, data: bytes) -> tuple[Measurement, ...]:
    """The rows of a file that holds these bytes: a card or a page reads the same file many times."""
    return tuple(_parse(row, where) for where, row in numbered_rows(path, COLUMNS))


def recorded(gpu: str) -> list[Measurement]:
    """The rows that were recorded on this GPU; an empty list if there are none."""
    return read(path_of(gpu))


def record(rows: Iterable[Measurement], folder: Path | str | None = None) -> Path:
    """Add rows of one GPU to its file in `folder` (default: the lab's results) and return the file's path.

    Raises `LabError` for rows of more than one GPU or without a needed field.
    """
    rows = list(rows)
    names = {row.gpu for row in rows}
    if len(names) != 1:
        raise LabError(f"A results file is for one GPU; these rows are from {', '.join(sorted(names)) or 'none'}.")
    path = path_of(names.pop())
    path = Path(folder) / path.name if folder is not None else path
    append(rows, path)
    return path


def append(rows: Iterable[Measurement], path: Path) -> None:
    """Add rows to a file; they replace those of the same kernel, ladder, configuration, regime, size and type.

    The configuration of a CUTLASS baseline is ignored in this comparison, because it is the one that its run found
    fastest. Raises `LabError` for a row without a needed field, and then writes nothing.
    """
    rows = list(rows)
    for row in rows:
        _require(row)
    kept = {_key(row): row for row in read(path)}
    kept |= {_key(row): row for row in rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".csv.part")
    with partial.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in sorted(kept.values(), key=_key):
            writer.writerow([_text(getattr(row, name)) for name in COLUMNS])
    partial.replace(path)


def raw_path(path: Path) -> Path:
    """The file of the samples that belong to a CSV file of results."""
    return path.parent / "raw" / f"{path.stem}.jsonl"


def append_raw(rows: Iterable[Measurement], path: Path) -> None:
    """Add the samples of `rows` to a file of JSON lines; they replace lines with the same KEY, as in `append`.

    A line has `RAW_COLUMNS`; `samples_ms` are milliseconds per launch, one per round, to 5 significant digits. Rows
    without samples, such as those read from a CSV file, add nothing. Raises `LabError` for a line of the file that
    cannot be read.
    """
    kept = {_key(SimpleNamespace(**line)): line for line in read_raw(path)}
    for row in rows:
        if row.samples_ms:
            samples = [float(f"{sample:.5g}") for sample in row.samples_ms]
            kept[_key(row)] = {**{name: getattr(row, name) for name in RAW_COLUMNS}, "samples_ms": samples}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".jsonl.part")
    lines = (json.dumps(kept[key], separators=(",", ":")) + "\n" for key in sorted(kept))
    partial.write_text("".join(lines), encoding="utf-8")
    partial.replace(path)


def read_raw(path: Path) -> list[dict]:
    """The lines of a file of samples as dicts with `RAW_COLUMNS`; an empty list if there is no file.

    Raises `LabError`, with its number, for a line of another form.
    """
    found = []
    for number, text in enumerate(path.read_bytes().splitlines() if path.is_file() else (), 1):
        try:
            line = json.loads(text)
            sane = tuple(line) == RAW_COLUMNS and all(0 < sample < math.inf for sample in line["samples_ms"])
        except (ValueError, TypeError):
            sane = False
        if not sane:
            raise LabError(
                f"raw/{path.name}, line {number}: it has to be an object with {', '.join(RAW_COLUMNS)}, and its "
                "samples are milliseconds."
            )
        found.append(line)
    return found


def with_samples(rows: Iterable[Measurement], path: Path) -> list[Measurement]:
    """`rows`, which are those of the CSV file `path`, with their recorded samples: milliseconds, one per round."""
    names = RAW_COLUMNS[:-1]
    kept = {tuple(line[name] for name in names): tuple(line["samples_ms"]) for line in read_raw(raw_path(path))}
    return [replace(row, samples_ms=kept.get(tuple(getattr(row, name) for name in names), ())) for row in rows]


def _key(row: Measurement | SimpleNamespace) -> tuple:
    chosen_by_the_run = row.kernel.startswith(("cutlass_", "cublaslt_"))
    return tuple("" if name == "config" and chosen_by_the_run else getattr(row, name) for name in KEY)


def _require(row: Measurement) -> None:
    for name in COLUMNS:
        value = getattr(row, name)
        lacking = value is None or value == "" or (isinstance(value, float) and not math.isfinite(value))
        if lacking and (name not in MAY_BE_EMPTY or value not in (None, "")):
            raise LabError(
                f"The row of {row.kernel} at {row.m}×{row.n}×{row.k} has no {name}; a recorded row needs "
                "every field, so measure again on a machine where NVML and the driver give it."
            )
    if reason := _contradiction(row):
        raise LabError(f"The row of {row.kernel} at {row.m}×{row.n}×{row.k} cannot be kept: {reason}")
    for ratio, base in BASES.items():
        if (getattr(row, ratio) is None) != (getattr(row, base) is None):
            raise LabError(f"The row of {row.kernel} has {ratio} without {base}, or the reverse; give both or neither.")


def _contradiction(row: Measurement) -> str:
    """A sentence about numbers of a row that cannot all be true; "" if there are none."""
    if zero := next((name for name in ("m", "n", "k", "rounds", "tflops") if not getattr(row, name)), ""):
        return f"{zero} is 0."
    if not row.tflops_low <= row.tflops <= row.tflops_high:
        return f"tflops is {row.tflops:g}, and its quartiles are {row.tflops_low:g} and {row.tflops_high:g}."
    for name, base in BASES.items():
        other, ratio = getattr(row, base), getattr(row, name)
        if other and ratio is not None and abs(ratio * other - row.tflops) > APART * row.tflops:
            return f"{name} is {ratio:g}, and tflops over {base} is {row.tflops / other:.4g}."
    return ""


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _parse(row: dict, where: str) -> Measurement:
    for name in COLUMNS:
        if row[name] == "" and name not in MAY_BE_EMPTY:
            raise LabError(f"{where}: {name} is empty.")
    found = typed(Measurement, row)
    if reason := _contradiction(found):
        raise LabError(f"{where}: {reason} Restore the file, or delete this line.")
    return found
