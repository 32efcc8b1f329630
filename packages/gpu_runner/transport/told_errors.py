"""Converts errors of a worker or a server to data and back: a name from a list, a message, and checked fields.

The receiver never imports what a message names. An error of the lab that is not on the list is sent as the nearest of
its base classes that is; of any other error, only its name and its message are sent.
"""

from __future__ import annotations

from typing import Any

from gpu_runner.driver import DriverError
from gpu_runner.faults import DeviceOutOfMemory, GpuBusy, KernelFault, KernelHang, RunnerError, Silence, WorkerLost
from gpu_runner.transport.field_types import fitted
from gpu_simulator.errors import ConfigError, LaunchError, MissingDependency, SimulatorError, SizeError
from gpu_simulator.hardware.matrix_descriptor import DescriptorError
from gpu_simulator.hardware.swizzle import LayoutError
from gpu_simulator.hardware.tensor_map import TensorMapError

MOST_TEXT = 64 * 1024
PLACE = {"detail": str, "file": str | None, "line": int | None, "text": str | None, "output": str}
_known: dict[str, tuple[type[SimulatorError], dict[str, Any]]] = {}


def register(kind: type[SimulatorError], fields: dict[str, Any] | None = None) -> None:
    """Allow errors of `kind` to be sent with these fields: attributes and their type hints."""
    _known[kind.__name__] = kind, fields or {}


for _kind in (SimulatorError, RunnerError, ConfigError, LaunchError, MissingDependency, SizeError, DescriptorError,
              LayoutError, TensorMapError):  # fmt: skip
    register(_kind)
register(WorkerLost, {"output": str})
register(DeviceOutOfMemory, {"asked": int, "free": int})
register(GpuBusy, {"seconds": float, "holder": str, "before": int})
register(DriverError, {"code": int, "name": str})
register(Silence, {"seconds": float, "running": bool, "output": str})
register(KernelFault, {"kind": str, **PLACE})
register(KernelHang, {"seconds": float, **PLACE})


def told(error: BaseException) -> dict[str, Any]:
    """An exception as data: {"type", "message", "fields"}. If its type is not on the list, "fields" is empty."""
    name, fields = type(error).__name__, {}
    for base in type(error).__mro__:
        kind, hints = _known.get(base.__name__, (None, {}))
        if kind is base:
            name, fields = base.__name__, {field: getattr(error, field) for field in hints}
            break
    return {"type": name, "message": str(error)[:MOST_TEXT], "fields": fields}


def retold(facts: Any) -> SimulatorError | None:
    """The error that `told` described; None if its type is not on the list. Raises `ValueError` for anything else."""
    facts = fitted(facts, {"type": str, "message": str, "fields": dict}, "error")
    kind, fields = _known.get(facts["type"], (None, {}))
    if kind is None:
        return None
    found = fitted(facts["fields"], fields, facts["type"])
    error = kind.__new__(kind)
    SimulatorError.__init__(error, facts["message"][:MOST_TEXT])
    for name, value in found.items():
        setattr(error, name, value)
    return error
