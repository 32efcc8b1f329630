"""The recorded hardware counters of each rung and each address pattern: CSV files in results/profiles/<gpu>/.

Nsight Compute counted them (`python -m tools.recording counters`); tests compare the simulator with them.
"""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path
from typing import Any

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
    """The rows of a CSV file; an empty list if there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
