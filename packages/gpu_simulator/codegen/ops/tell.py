"""Functions by which generated code tells observers of events; called only in code for launches with observers."""

from __future__ import annotations

from gpu_simulator.runtime import runtime


@runtime
def tell_warps_met(resident, lanes, members):
    """Tell observers that the lanes of each warp have synchronised. members: the membermask, None for whole warps."""
    for observer in resident.observers:
        observer.warps_met(lanes, members)


@runtime
def tell_warps_exchanged(resident, lanes, site, members):
    """Tell observers that the lanes of each warp have exchanged values. members: the membermask."""
    for observer in resident.observers:
        observer.warps_exchanged(lanes, site, members)


@runtime
def tell_partial_warps(resident, lanes, site, mask):
    """Tell observers of warps of which only some lanes execute an instruction that all have to execute."""
    if mask is None:
        return
    rows = mask.reshape(-1, 32)
    partial = rows.any(1) & ~rows.all(1)
    if partial.any():
        for observer in resident.observers:
            observer.partial_warps(lanes, site, rows, partial)


@runtime
def tell_fence(resident, lanes, wide):
    """Tell observers of a membar or fence."""
    for observer in resident.observers:
        observer.fence(lanes, wide)


@runtime
def tell_proxy_fence(resident, lanes, site, mask, init_only):
    """Tell observers of fence.proxy.async or fence.mbarrier_init."""
    for observer in resident.observers:
        observer.proxy_fence(lanes, site, mask, init_only)


@runtime
def tell_tcgen05_fence(resident, lanes, site, mask, before):
    """Tell observers of a tcgen05.fence. It does nothing else, because accesses to tensor memory are in order here."""
    for observer in resident.observers:
        observer.tcgen05_fence(lanes, site, mask, before)


@runtime
def tell_registers_shared(resident, lanes, site):
    """Tell observers of a setmaxnreg."""
    for observer in resident.observers:
        observer.registers_shared(lanes, site)


@runtime
def tell_registers_used(resident, lanes, site, registers, verb, mask):
    """Tell observers of an instruction that uses registers of accumulators or of A."""
    for observer in resident.observers:
        observer.wgmma_registers_used(lanes, site, registers, verb, mask)


@runtime
def tell_register_moved(resident, lanes, to, source, mask):
    """Tell observers that a register of accumulators or of A is copied."""
    for observer in resident.observers:
        observer.wgmma_register_moved(lanes, to, source, mask)
