"""The base class of what the lab itself refuses; everything above the simulator, the clock and the runner raises it."""

from __future__ import annotations

from gpu_simulator.errors import SimulatorError


class LabError(SimulatorError):
    """An error that a learner can correct; `str(error)` says how."""
