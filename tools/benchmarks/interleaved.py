"""Compares run times by running the candidates in turns, so that other load on the machine slows all of them alike."""

import statistics
import time


def seconds(work) -> float:
    """The seconds that one call of `work` takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def ratios(works: dict, base, rounds: int = 5) -> dict[str, float]:
    """{name: time of the work divided by the time of `base`}: medians over rounds in which each runs once."""
    for work in (base, *works.values()):
        work()  # do what happens only once, such as compiling, parsing and filling caches
    found = {name: [] for name in works}
    for _ in range(rounds):
        once = seconds(base)
        for name, work in works.items():
            found[name].append(seconds(work) / once)
    return {name: statistics.median(values) for name, values in found.items()}
