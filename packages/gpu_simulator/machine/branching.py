"""Functions for generated code: where lanes continue after a basic block, and registers written on some lanes."""

from __future__ import annotations

import numpy as np

from gpu_simulator.faults import Trap
from gpu_simulator.machine.lanes import Lanes

DONE = 1 << 30  # program counter of lanes that have ended
PARKED = 1 << 29  # program counter of lanes that wait at a barrier


class ControlFlow:
    """Part of `ResidentBlocks`. `branch` … `exit` return the next basic block, or -1 if they set program counters."""

    def branch(self, lanes: Lanes, condition, taken: int, other: int) -> int:
        if condition.ndim == 0:
            return taken if condition else other
        if lanes.mask is None:
            if condition.all():
                return taken
            if not condition.any():
                return other
        if lanes.full:
            self.pc = np.where(condition, taken, other)
            self.at = None
        else:
            self.goto(lanes, taken, condition)
            self.goto(lanes, other, ~condition)
        return -1

    def switch(self, lanes: Lanes, index, targets: tuple) -> int:
        if index.ndim == 0:
            return targets[int(index)]
        places = np.array(targets)[np.minimum(index, len(targets) - 1).astype(np.int64)]
        self.at = None
        numbers = lanes.lane_numbers()
        if lanes.mask is None:
            self.pc[numbers] = places
        else:
            self.pc[numbers[lanes.mask]] = places[lanes.mask]
        return -1

    def exit(self, lanes: Lanes) -> int:
        if lanes.full:
            self.pc[:] = DONE
            self.at = DONE
        else:
            self.goto(lanes, DONE)
            self.barriers.recheck()
            self.cluster_barrier.recheck()
        for observer in self.observers:
            observer.threads_ended()
        return DONE if lanes.full else -1

    def trap(self, lanes: Lanes, site: int) -> int:
        item = self.program.sites[site]
        raise Trap(f"The kernel executed trap at {self.launch.describe(item)}, in {self.who(lanes, 0)}.")

    def put_masked(self, lanes: Lanes):
        """A function put(number, value) that writes a register on the executing lanes only."""
        R, mask, chosen, total = self.R, lanes.mask, lanes.chosen, self.lanes

        def put(number, value):
            old = R[number]
            if chosen is None:
                R[number] = (
                    np.where(mask, value, old)
                    if old.dtype == value.dtype
                    else np.where(mask, value, old).astype(value.dtype)
                )
                return
            new = np.full(total, old) if old.ndim == 0 else old.copy()
            rows = new.reshape(-1, 32)
            value = value if value.ndim == 0 else value.reshape(-1, 32)
            if mask is None:
                rows[chosen] = value
            else:
                rows[chosen] = np.where(mask.reshape(-1, 32), value, rows[chosen])
            R[number] = new

        return put
