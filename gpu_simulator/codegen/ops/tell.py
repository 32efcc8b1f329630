"""What generated code says to observers where no function of an instruction does; written only if there are any."""

from __future__ import annotations

from gpu_simulator.runtime import runtime


@runtime
def tell_warps_met(resident, lanes):
    """Lanes of a warp came together, for observers."""
    for observer in resident.observers:
        observer.warps_met(lanes)


@runtime
def tell_fence(resident, lanes, wide):
    """membar and fence, for observers."""
    for observer in resident.observers:
        observer.fence(lanes, wide)


@runtime
def tell_proxy_fence(resident, lanes, site, mask, init_only):
    """fence.proxy.async and fence.mbarrier_init, for observers."""
    for observer in resident.observers:
        observer.proxy_fence(lanes, site, mask, init_only)


@runtime
def tell_tcgen05_fence(resident, lanes, site, mask, before):
    """A fence orders what observers know of; tensor memory here is always in order."""
    for observer in resident.observers:
        observer.tcgen05_fence(lanes, site, mask, before)


@runtime
def tell_registers_used(resident, lanes, site, registers, verb, mask):
    """An instruction uses registers of accumulators or of A, for observers."""
    for observer in resident.observers:
        observer.wgmma_registers_used(lanes, site, registers, verb, mask)


@runtime
def tell_register_moved(resident, lanes, to, source, mask):
    """Such a register is copied, for observers."""
    for observer in resident.observers:
        observer.wgmma_register_moved(lanes, to, source, mask)
