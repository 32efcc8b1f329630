"""Registers the types of the simulator's reports with the codec that sends them between client and server.

The codec (`gpu_runner.transport.codec`) may not import the simulator, but this module may. Import it wherever a
server's answers are written or read.
"""

from __future__ import annotations

import typing
from dataclasses import fields
from typing import Any

from gemm_results.errors import LabError
from gpu_runner.transport import codec, told_errors
from gpu_runner.transport.server_results import RESULTS
from gpu_simulator import Report, Site, Totals
from gpu_simulator import faults as simulated
from gpu_simulator.observers.hazards import Hazard

REPORT = typing.get_type_hints(Report)


def _report(**found: Any) -> Report:
    """A report that came from another machine: it has the counts and findings, but no launch that could be replayed."""
    report = Report.__new__(Report)
    vars(report).update(found, _launch=None)
    return report


for _kind in (Site, Totals, Hazard):
    _hints = typing.get_type_hints(_kind)
    codec.register(_kind, {field.name: _hints[field.name] for field in fields(_kind)})
codec.register(Report, REPORT, _report)
RESULTS["simulate"]["report"] = Report

told_errors.register(LabError)
for _name in simulated.__all__:
    told_errors.register(getattr(simulated, _name))
