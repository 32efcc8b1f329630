"""The number of attacks in a run: a sample in `make test`, all of them in `make attack`.

The sample is the first part of the same seeded sequence, so the full run finds everything that the sample finds.
"""

from __future__ import annotations

import os

FULL = os.environ.get("GEMM_LAB_ATTACK") == "full"


def count(full: int, sample: int) -> int:
    """`full` in `make attack`, `sample` in `make test`."""
    return full if FULL else sample


def parts(total: int, size: int) -> list[range]:
    """The numbers 0 … total - 1 in ranges of `size`. Each range is one test, so a run shows its progress."""
    return [range(first, min(first + size, total)) for first in range(0, total, size)]
