"""Functions by which generated code tells observers of events; called only in code for launches with observers."""

from __future__ import annotations

from gpu_simulator.runtime import runtime


@runtime
def tell(resident, event, *facts):
    """Tell observers of an event. event: the name of a method of `Observer`.   facts: its arguments."""
    for observer in resident.observers:
        getattr(observer, event)(*facts)


@runtime
def tell_partial_warps(resident, lanes, site, mask):
    """Tell observers of warps of which only some lanes execute an instruction that all have to execute."""
    if mask is None:
        return
    rows = mask.reshape(-1, 32)
    partial = rows.any(1) & ~rows.all(1)
    if partial.any():
        tell(resident, "partial_warps", lanes, site, rows, partial)
