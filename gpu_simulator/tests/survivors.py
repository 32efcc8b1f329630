"""Which broken variants of a kernel nobody notices."""

from collections.abc import Callable, Iterable
from typing import Any

from mutants import Mutant

import gpu_simulator as emulator

TIMINGS = ("early", "late")


def survivors(broken: Iterable[Mutant], attempt: Callable[[str, str], tuple[bool, Any]]) -> list[str]:
    """The statements of the mutants that neither fail, nor are wrong, nor report a hazard in either timing.

    `attempt(ptx, timing)` gives (exact, report).
    """

    def noticed(ptx: str, timing: str) -> bool:
        try:
            exact, report = attempt(ptx, timing)
        except emulator.EmulatorError:  # a wait that never ends, a descriptor that cannot be
            return True
        return not exact or bool(report.hazards)

    return [one.statement for one in broken if not any(noticed(one.ptx, timing) for timing in TIMINGS)]
