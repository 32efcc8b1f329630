"""What ends a kernel before its result is there, and the hazard that a check names."""

from __future__ import annotations

from typing import Any

from gpu_simulator import BudgetExceeded, Deadlock, MbarrierFault, MemoryFault
from gpu_simulator.faults import BarrierFault, ClusterFault, TensorMemoryFault, WarpFault, WarpgroupFault
from gpu_simulator.observers.severities import SUSPICIOUS

# Errors that end a kernel before it has finished.
FAULTS = (
    MemoryFault,
    MbarrierFault,
    BarrierFault,
    ClusterFault,
    WarpFault,
    WarpgroupFault,
    TensorMemoryFault,
    Deadlock,
    BudgetExceeded,
)
EARLY_USE = "early use"  # the kind of a hazard that is only a remark: of tcgen05.ld, whose registers wait for it


def first_hazard_of(run: Any) -> list[str]:
    """A list with a sentence about the first hazard of a run, in early or in late timing; [] if there is none."""
    try:
        found = [hazard for hazard in run.hazards() if hazard.kind != EARLY_USE]
    except FAULTS as fault:  # a kernel that is right in early timing may fail in late timing
        return [str(fault)]
    return [f"{'A suspicious access' if found[0].severity == SUSPICIOUS else 'A hazard'}: {found[0]}"] if found else []
