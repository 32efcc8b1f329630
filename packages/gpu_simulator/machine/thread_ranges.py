"""Ranges of thread numbers in words, such as “threads 0-31, 64 wait”."""

from __future__ import annotations

import numpy as np


def threads_wait(numbers) -> str:
    """“threads 0-31, 64 wait”, or “thread 128 waits”."""
    return f"thread {numbers[0]} waits" if len(numbers) == 1 else f"threads {spans(np.sort(numbers))} wait"


def spans(numbers) -> str:
    """Ascending numbers as ranges, such as “0-31, 64, 70-72”; at most eight ranges."""
    numbers = list(map(int, numbers))
    out, begin = [], 0
    for n in range(1, len(numbers) + 1):
        if n == len(numbers) or numbers[n] != numbers[n - 1] + 1:
            out.append(str(numbers[begin]) if begin == n - 1 else f"{numbers[begin]}-{numbers[n - 1]}")
            begin = n
    return ", ".join(out[:8]) + (" …" if len(out) > 8 else "")
