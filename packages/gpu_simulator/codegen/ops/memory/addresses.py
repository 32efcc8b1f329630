"""Functions for accesses of every family: state spaces, addresses, and the resolution of generic addresses."""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.address_space import LOCAL_WINDOW

SPACES = {"global": "global", "const": "global", "shared": "shared", "shared__cta": "shared",
          "shared__cluster": "shared", "local": "local"}  # fmt: skip


def space_of(e, i, memory) -> str:
    """The state space of an access: "global", "shared", "local", "param" or "generic".

    Parameters of the kernel are in global memory, those of functions in local memory. If the address is in a register,
    the space is "param", and the value of the address decides when the code runs.
    """
    for part in i.parts[1:]:
        if part in SPACES:
            return SPACES[part]
        if part.startswith("param"):
            variable = getattr(memory.base, "variable", None)
            if variable is None:
                return "param"
            return "global" if any(variable is p for p in e.program.parameters) else "local"
    return "generic"


def wide_address(e, memory) -> str:
    """The expression of an address, widened to 64 bits for global and generic accesses."""
    base = memory.base
    if getattr(base, "type", "b64") in ("b32", "u32", "s32"):
        return f"{e.address(memory)}.astype(u8)"
    return e.address(memory)


def shared_address(e, i, memory) -> str:
    """The expression of an address in shared memory; an address without a state space is generic."""
    address = e.address(memory)
    if any(part.startswith("shared") for part in i.parts):
        return address
    return f"({address} - {e.constant(np.uint64(e.program.shared_window))})"


def resolve(resident, lanes, site, space, address, mask, width, kind="shared"):
    """(memory, index, picked) of an access in the global, shared or local space; None if no lane executes.

    index, picked: as from `BlockMemory.resolve`, which also says what is raised.
    """
    memory = resident.memory if space == "global" else resident.shared if space == "shared" else resident.local
    found = (
        resident.memory.resolve(resident, lanes, site, address, mask, width)
        if space == "global"
        else memory.resolve(lanes, site, address, mask, width, kind)
    )
    return None if found is None else (memory, *found)


def split_generic(resident, lanes, address, mask):
    """(space, addresses within it, mask) for each state space that contains some of the generic addresses."""
    window = resident.program.shared_window
    if address.ndim == 0:
        at = int(address)
        space = "global" if at < LOCAL_WINDOW else "local" if at < window else "shared"
        return [(space, _within(address, space, window), mask)]
    used = address if mask is None else address[np.flatnonzero(mask)]
    if not used.size:
        return []
    low, high = int(used.min()), int(used.max())
    if high < LOCAL_WINDOW:
        return [("global", address, mask)]
    if low >= window:
        return [("shared", _within(address, "shared", window), mask)]
    if low >= LOCAL_WINDOW and high < window:
        return [("local", _within(address, "local", window), mask)]
    active = np.ones(lanes.n, bool) if mask is None else mask
    tests = (
        ("global", address < LOCAL_WINDOW),
        ("local", (address >= LOCAL_WINDOW) & (address < window)),
        ("shared", address >= window),
    )
    return [(space, _within(address, space, window), active & test) for space, test in tests if (active & test).any()]


def _within(address, space, window):
    base = {"global": 0, "local": LOCAL_WINDOW, "shared": window}[space]
    return address - np.uint64(base) if base else address
