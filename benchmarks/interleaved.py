"""Ratios of things that run in turns, so that whatever else the machine does slows all of them."""

import statistics
import time


def seconds(work) -> float:
    """The seconds of one call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def ratios(works: dict, base, rounds: int = 5) -> dict[str, float]:
    """How many times as long as `base` each of the works takes: medians over rounds in which each runs once."""
    for work in (base, *works.values()):
        work()  # what happens once: compiling, parsing, caches
    found = {name: [] for name in works}
    for _ in range(rounds):
        once = seconds(base)
        for name, work in works.items():
            found[name].append(seconds(work) / once)
    return {name: statistics.median(values) for name, values in found.items()}
