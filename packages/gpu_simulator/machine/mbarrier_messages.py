"""Messages of a deadlock at an mbarrier: which threads wait for which phase, and what that phase still needs."""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.mbarriers import NEVER, Mbarrier, Mbarriers
from gpu_simulator.machine.thread_ranges import threads_wait


def waiting_clauses(mbarriers: Mbarriers, block: int) -> list[str]:
    """One clause for each group of waiting threads of a block."""
    resident, words = mbarriers.resident, []
    for (number, address), entries in sorted(mbarriers.waiting.items()):
        if number != block:
            continue
        barrier, by_wait = mbarriers.known[number, address], {}
        for entry in entries:
            by_wait.setdefault((entry.phase, entry.site), []).append(entry.lanes)
        for (phase, site), lanes in by_wait.items():
            waiting_lanes = np.concatenate(lanes)
            waiting = threads_wait(resident.thread_of_lane[waiting_lanes])
            words.append(
                f"{waiting} at the mbarrier at shared address {address} for the end of phase {phase} "
                f"(parity {phase & 1}), which {missing(barrier)} ({resident.describe(site)})"
                + (
                    _wrong_start(mbarriers, barrier, phase, site, waiting_lanes)
                    or _waits_for_itself(mbarriers, barrier, waiting_lanes)
                )
            )
    return words


def _wrong_start(mbarriers: Mbarriers, barrier: Mbarrier, phase: int, site: int, lanes: np.ndarray) -> str:
    """A clause if lanes have missed the first phase because they began with parity 1, else ""."""
    phases = mbarriers.last_waits.get(barrier.key, (None,))[0]
    began = phases is None or (phases[lanes] == NEVER).all()
    if phase == 1 and began and "parity" in mbarriers.resident.program.sites[site].parts:
        return ", for the first time: but the first phase has parity 0, and it is over, so begin with parity 0"
    return ""


def _waits_for_itself(mbarriers: Mbarriers, barrier: Mbarrier, lanes: np.ndarray) -> str:
    """A clause if the only thread that arrives at an mbarrier has waited there too, and these lanes have not, else "".

    This is how a producer looks that waits at `full`, which it fills, in the place of `empty`: it runs ahead.
    """
    arrived, phases = barrier.arrived, mbarriers.last_waits.get(barrier.key, (None,))[0]
    if not _untouched(barrier) or barrier.expected > 1 or phases is None or arrived in lanes:
        return ""
    resident = mbarriers.resident
    if arrived < 0 or phases[arrived] == NEVER or resident.block_of_lane[arrived] != barrier.key[0]:
        return ""
    who = int(resident.thread_of_lane[arrived])
    return (
        f". Thread {who}, which alone arrives at this mbarrier, has waited at it too: before it overwrites what others "
        "read, it has to wait at an mbarrier at which these readers arrive"
    )


def last_wait(mbarriers: Mbarriers, key: tuple[int, int], phase: int, lane: int) -> str:
    """A clause that names the last wait of a lane at an mbarrier if it was for an earlier phase than this, else ""."""
    phases, sites = mbarriers.last_waits.get(key, (None, None))
    if phases is None or not NEVER < phases[lane] < phase:
        return ""
    earlier = int(phases[lane])
    which = "the phase before the first, which counts as over" if earlier < 0 else f"phase {earlier}"
    return (
        f" The last wait of this thread there, with parity {earlier & 1} at "
        f"{mbarriers.resident.describe(int(sites[lane]))}, was for {which}."
    )


def missing(barrier: Mbarrier) -> str:
    """What the current phase still needs, and whether the wait may have missed its phase, in words."""
    parts = []
    if barrier.pending:
        parts.append(f"expects {barrier.pending:,} more of its {barrier.expected:,} arrivals")
    if barrier.bytes > 0:
        parts.append(f"expects {barrier.bytes:,} bytes more than have been copied")
    elif barrier.bytes < 0:
        parts.append(f"has got {-barrier.bytes:,} bytes more than were announced by expect_tx")
    remark = f" (phase {barrier.phase - 1} is over, and nothing has come since)" if _untouched(barrier) else ""
    return " and ".join(parts) + remark


def _untouched(barrier: Mbarrier) -> bool:
    """Whether the current phase is not the first, and nothing has come in it."""
    return barrier.phase > 0 and barrier.pending == barrier.expected and not barrier.bytes
