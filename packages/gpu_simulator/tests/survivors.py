"""Finds the mutants of a kernel that the simulator does not detect."""

from collections.abc import Callable, Iterable
from typing import Any

from mutants import Mutant

import gpu_simulator

TIMINGS = ("early", "late")


def survivors(broken: Iterable[Mutant], attempt: Callable[[str, str], tuple[bool, Any]]) -> list[str]:
    """The statements of the mutants that raise no error, give the exact result and report no hazard, in both timings.

    `attempt(ptx, timing)` returns (whether the result is exact, report).
    """

    def noticed(ptx: str, timing: str) -> bool:
        try:
            exact, report = attempt(ptx, timing)
        except gpu_simulator.SimulatedFault:  # such as a deadlock or an invalid descriptor
            return True
        return not exact or bool(report.hazards)

    return [one.statement for one in broken if not any(noticed(one.ptx, timing) for timing in TIMINGS)]
