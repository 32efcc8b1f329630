"""The recorded hardware counters of each rung and each address pattern: CSV files in results/profiles/<gpu>/.

Nsight Compute counted them (`python -m tools.recording counters`); tests compare the simulator with them.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from gemm_results.errors import LabError

T = TypeVar("T")
PROFILED_N = 512  # the size in rungs.csv; small enough that the simulator can count the same launch

# Our column → ncu's metric. ncu counts the first two per instruction; the others are hardware counters.
METRICS = {
    "wavefronts": "memory_l1_wavefronts_shared",
    "ideal_wavefronts": "memory_l1_wavefronts_shared_ideal",
    "instructions": "smsp__inst_executed.sum",
    "hardware_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "tensor_instructions": "smsp__inst_executed_pipe_tensor.sum",
}


# Columns of the files in results/ that hold words; in every other column a field is empty or a number, and in those of
# WHOLE a whole one.
_WORDS = """address arch commit config cuda date driver dtype edit failed gpu idea input instruction kernel ladder ncu
note nvrtc opcode pattern ptx reasons regime repeated rung settings source step top_stall unit"""
WORDS = frozenset(_WORDS.split())
WHOLE = ("executed", "ideal_wavefronts", "k", "m", "n", "rounds", "wavefronts")


def source_hash(compiled: Any) -> str:
    """A hash of a kernel's source, the headers it includes and its configuration, in 16 hexadecimal digits.

    Comments, white space and the version of the compiler do not change it.
    """
    texts, seen, waiting = [], set(), [compiled.source]
    while waiting:
        texts.append(text := waiting.pop(0))
        for name in re.findall(r'^\s*#include\s+"([^"]+)"', text, re.M):
            found = next((file for file in compiled.files if file == name or file.endswith(f"/{name}")), None)
            if found and found not in seen:
                seen.add(found)
                waiting.append(compiled.files[found])
    code = re.sub(r"//[^\n]*|/\*.*?\*/|^#line[^\n]*", " ", "\n".join(texts), flags=re.S | re.M)
    words = " ".join(code.split()) + repr(sorted(compiled.config.items()))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file in results/; an empty list if there is no file.

    Raises `LabError`, with file and line, for what `numbered_rows` refuses.
    """
    return [row for _, row in numbered_rows(path)]


def typed(kind: type[T], row: Mapping[str, str]) -> T:
    """The fields of a row as a dataclass, whose annotations say which of them are numbers, and which may be empty."""
    values = {}
    for one in fields(kind):
        if (text := row.get(one.name)) is not None:
            name, *empty = one.type.split(" | ")
            values[one.name] = None if empty and not text else {"int": int, "float": float}.get(name, str)(text)
    return kind(**values)


def numbered_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields each row of a CSV file with its place, such as "profiles/cards.csv, line 7"; nothing if there is no file.

    columns: what the header has to be.   Raises `LabError`, with the place, for bytes that are no text, for a row with
    more or fewer fields than the header, and for a number that is negative, not finite, or not one at all.
    """
    if not path.is_file():
        return
    file, data, number = f"{path.parent.name}/{path.name}", path.read_bytes(), 1
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8"), newline=""))
        if columns is not None and tuple(reader.fieldnames or ()) != tuple(columns):
            raise LabError(f"{file} has the columns {reader.fieldnames}; they have to be {', '.join(columns)}.")
        for row in reader:
            number, where = reader.line_num + 1, f"{file}, line {reader.line_num}"
            if None in row or None in row.values():
                wanted = len(reader.fieldnames or ())
                raise LabError(f"{where}: the row has too few or too many fields; it has to have {wanted}. {_MEND}")
            for name, text in row.items():
                if text and name not in WORDS and not _is_number(text, name in WHOLE):
                    kind = "whole number" if name in WHOLE else "number"
                    raise LabError(f"{where}: {name} is {text[:40]!r}, which is not a {kind} from 0 on. {_MEND}")
            yield where, row
    except UnicodeDecodeError as error:
        place = data.count(b"\n", 0, error.start) + 1
        raise LabError(f"{file}, line {place}: it holds bytes that are no text. {_MEND}") from None
    except csv.Error as error:
        raise LabError(f"{file}, line {number}: it is not a row of a table ({error}). {_MEND}") from None


_MEND = "Restore the file, or mend or delete this line."


def _is_number(text: str, whole: bool) -> bool:
    try:
        return 0 <= float(text) < math.inf and (not whole or text.isdecimal())
    except ValueError:
        return False
