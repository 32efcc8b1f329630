"""What generated code says to observers where no function of an instruction does; written only if there are any."""

from __future__ import annotations

from gpu_simulator.runtime import runtime


@runtime
def tell_warps_met(S, L):
    """Lanes of a warp came together, for observers."""
    for observer in S.observers:
        observer.warps_met(L)


@runtime
def tell_fence(S, L, wide):
    """membar and fence, for observers."""
    for observer in S.observers:
        observer.fence(L, wide)


@runtime
def tell_proxy_fence(S, L, k, mask, init_only):
    """fence.proxy.async and fence.mbarrier_init, for observers."""
    for observer in S.observers:
        observer.proxy_fence(L, k, mask, init_only)


@runtime
def tell_tcgen05_fence(S, L, k, mask, before):
    """A fence orders what observers know of; tensor memory here is always in order."""
    for observer in S.observers:
        observer.tcgen05_fence(L, k, mask, before)


@runtime
def tell_registers_used(S, L, k, registers, verb, mask):
    """An instruction uses registers of accumulators or of A, for observers."""
    for observer in S.observers:
        observer.wgmma_registers_used(L, k, registers, verb, mask)


@runtime
def tell_register_moved(S, L, to, source, mask):
    """Such a register is copied, for observers."""
    for observer in S.observers:
        observer.wgmma_register_moved(L, to, source, mask)
