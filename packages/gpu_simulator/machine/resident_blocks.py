"""`ResidentBlocks`: blocks that run together, with their registers, memories, program counters and scheduler."""

from __future__ import annotations

from functools import partial

import numpy as np

from gpu_simulator.hardware.exact_sums import chosen_rule
from gpu_simulator.machine.asynchronous.copy_groups import Groups
from gpu_simulator.machine.asynchronous.tensor_cores import TensorCores
from gpu_simulator.machine.asynchronous.tensor_memory import TensorMemory
from gpu_simulator.machine.asynchronous.transfers import Transfers
from gpu_simulator.machine.asynchronous.warpgroups import Warpgroups
from gpu_simulator.machine.barriers import Barriers
from gpu_simulator.machine.branching import DONE, PARKED, ControlFlow
from gpu_simulator.machine.call_stack import CallStack
from gpu_simulator.machine.cluster_barrier import ClusterBarrier
from gpu_simulator.machine.cluster_memory import ClusterMemory
from gpu_simulator.machine.lanes import Lanes
from gpu_simulator.machine.mbarriers import Mbarriers
from gpu_simulator.machine.memory import LocalMemory, SharedMemory
from gpu_simulator.machine.special_registers import SpecialRegisters
from gpu_simulator.machine.uneven_blocks import UnevenBlocks

PATTERNS = 1_000_000  # costs of address patterns that are kept from one group to the next, about 150 bytes each
# The lanes at the lowest program counter run, so that lanes that diverged come together again. Of each FAIR steps, the
# last FAVOURED follow a lane that is elsewhere, another one each time, so that lanes that spin do not starve those for
# which they wait.
FAIR, FAVOURED = 256, 32


class ResidentBlocks(ControlFlow, SpecialRegisters):
    """Some blocks of a launch. Lanes are numbered block by block, 32 for each warp even if the last warp is partial.

    places: of the blocks, consecutive and in whole clusters; see `Clusters`.
    """

    BYTES_A_LANE = 128  # numbers, masks and addresses in addition to the registers

    def __init__(self, launch, places: np.ndarray):
        self.launch, self.program, self.block_ids = launch, launch.program, launch.clusters.block(places)
        self.first_place, self.cluster_size = int(places[0]), launch.clusters.size
        self.blocks = len(places)
        self.threads = launch.threads
        self.warps_per_block = -(-self.threads // 32)
        self.warps = self.blocks * self.warps_per_block
        self.lanes = 32 * self.warps
        self.sites, self.memory, self.options = launch.sites, launch.memory, launch.options
        # sum_rule(instruction, a, b, out): how a product of tensor cores is summed, None for float32.
        self.sum_rule = partial(chosen_rule, launch.exact, self.program.module.capability)
        self.all_lanes = np.arange(self.lanes, dtype=np.int64)
        self.block_of_lane = self.all_lanes // (32 * self.warps_per_block)
        self.thread_of_lane = self.all_lanes % (32 * self.warps_per_block)
        self.shared_stride, self.local_stride = launch.shared_stride, self.program.local_size
        self.account, self.taken = launch.account, 0
        self.take(self.blocks * self.shared_stride + self.lanes * (self.local_stride + self.BYTES_A_LANE))
        self.shared = SharedMemory(self) if self.cluster_size == 1 else ClusterMemory(self)
        self.local = LocalMemory(self)
        self.R = list(launch.initial_registers)
        self.all = Lanes(self, None, None)
        self.barriers = Barriers(self)
        self.at: int | None = 0  # the basic block that every lane is at, or None
        self.pc = np.zeros(self.lanes, np.int64)
        self.alive = self.thread_of_lane < self.threads
        self.whole_warps = self.threads % 32 == 0
        if not self.whole_warps:
            self.pc[~self.alive] = DONE
            self.at = None
        self.runs = launch.runs
        self.contexts: dict[bytes, Lanes] = {}
        self.steps, self.followed = 0, 0
        self.let_go = np.zeros((self.warps, 32), bool)  # past a warp barrier whose other lanes came to a twin of it
        waits = launch.hazards is not None and launch.hazards.accesses.waits
        self.uneven = UnevenBlocks(self) if waits and self.blocks > 1 and launch.timing == "late" else None
        self.warpgroups = Warpgroups(self) if launch.program.warpgroup_registers is not None else None
        self.groups = Groups(self)
        self.mbarriers, self.transfers = Mbarriers(self), Transfers(self)
        self.tensor_memory, self.tensor_cores = TensorMemory(self), TensorCores(self)
        self.cluster_barrier = ClusterBarrier(self)
        self.calls = CallStack(self) if self.program.frames else None
        self._naming: dict = {}
        self.clock_ticks = launch.clock_start
        self.observers = tuple(observer_of(self) for observer_of in launch.observers)  # each an `Observer`

    # ---- Memory ----

    def take(self, size: int, what: str = "one more group of resident blocks") -> None:
        self.taken += size
        self.account.take(size, what)

    def rest(self) -> None:
        """Count the memory of the registers, which are kept while the blocks wait for other groups."""
        self.take(sum(register.nbytes for register in self.R))

    def close(self) -> None:
        """Finish the blocks, which have ended, and free their arrays.

        They are freed explicitly because `ResidentBlocks` and `Lanes` refer to each other, so that Python would free
        them only at the next garbage collection. A launch with `probes` keeps them for its observers.
        """
        for observer in self.observers:
            observer.ended()
        self.transfers.finish()
        self.tensor_cores.finish()
        self.tensor_memory.finish()
        for site in self.sites:
            site.cache.clear()
        known = self.launch.patterns.known
        if sum(map(len, known.values())) > PATTERNS:
            known.clear()
        self.account.give(self.taken)
        if self.launch.probes:
            return
        for lanes in (self.all, *self.contexts.values()):
            lanes.__dict__.clear()
        self.__dict__.clear()

    # ---- Scheduling ----

    def finished(self, quantum: int) -> bool:
        """Continue blocks that wait for other groups; True if they have ended."""
        ended = self.run(quantum)
        if ended:
            self.close()
        return ended

    def run(self, quantum: int) -> bool:
        """Execute up to `quantum` basic blocks; True if every lane has ended."""
        functions, program, probes = {}, self.program, self.launch.probes
        observed, clustered = bool(self.observers), self.cluster_size > 1
        count = self.launch.effort.count
        for _ in range(quantum):
            if self.at is not None and self.uneven is None:
                index = self.at
                if index >= PARKED:
                    return True
                lanes = self.all
            else:
                picked = self.pick()
                if picked is None:
                    return True
                index, lanes = picked
            key = (index, lanes.full)
            function = functions.get(key)
            if function is None:
                function = functions[key] = program.function(index, lanes.full, probes, observed, clustered)
            self.runs[index] += lanes.warps
            count(self.launch, index, lanes)
            following = function(self, lanes)
            if following >= 0:
                if lanes.full and self.uneven is None:
                    self.at = following
                else:
                    self.goto(lanes, following)
        return False

    def pick(self):
        """(basic block, lanes) to execute next, usually those at the lowest program counter; None if all have ended.

        Raises `Deadlock` if no lane can continue.
        """
        pc = self.pc if self.uneven is None else self.uneven.running(self.pc)
        self.steps += 1
        lowest = int(pc.min())
        if self.steps % FAIR >= FAIR - FAVOURED:
            lowest = self.favoured(lowest, pc)
        if lowest >= PARKED:
            if lowest >= DONE:
                return None
            return self.pick() if self.unblock() else self.barriers.nobody_left()
        chosen = self.ready(lowest, pc)
        if chosen is None:
            for other in np.unique(pc[pc < PARKED]):
                chosen = self.ready(int(other), pc)
                if chosen is not None:
                    lowest = int(other)
                    break
            else:
                if self.uneven is not None and self.uneven.left:
                    self.uneven.all_run()
                    return self.pick()
                return self.pick() if self.unblock() else self.barriers.stuck_collective(lowest)
        return lowest, self.context(chosen)

    def favoured(self, lowest: int, pc: np.ndarray) -> int:
        """The program counter of the lane that is followed now: one that is not at the lowest if there is one."""
        if self.steps % FAIR == FAIR - FAVOURED or pc[self.followed] >= PARKED:
            elsewhere = np.unique(pc[(pc < PARKED) & (pc > lowest)])[::-1]
            if not len(elsewhere):
                return lowest
            self.followed = int(np.argmax(pc == elsewhere[self.steps // FAIR % len(elsewhere)]))
        return int(pc[self.followed])

    def unblock(self) -> bool:
        """Called if no lane can continue: complete loads that are waited for, or let waits fail; True if that helps."""
        return self.transfers.land_wanted(self.mbarriers.wanted()) or self.mbarriers.say_not_yet()

    def ready(self, index: int, pc: np.ndarray) -> np.ndarray | None:
        """The lanes at a basic block that may execute it, as a Boolean mask; None if there are none. pc: who may run.

        A block that begins with a collective instruction waits for all lanes that its membermask names.
        """
        here = pc == index
        mask = self.program.blocks[index].warp_mask
        if mask is None:
            return here
        if mask == "warpgroup":
            return self.warpgroups.ready(here)
        rows = here.reshape(-1, 32)
        absent = ((self.pc != DONE) & ~here).reshape(-1, 32)
        twins = self.program.twins.get(index)
        if twins:
            at_twins = np.isin(self.pc, twins).reshape(-1, 32) & ~self.let_go
            absent &= ~at_twins
        if mask == "full":
            waits = absent.any(1, keepdims=True)
        else:
            waits = (self.named_lanes(mask) & np.packbits(absent, axis=1, bitorder="little").view("<u4")) != 0
        here = rows & ~waits
        if twins:  # the others go on when it is their turn
            gone = rows & self.let_go
            self.let_go |= here.any(1, keepdims=True) & at_twins
            self.let_go &= ~gone
            here |= gone
        return here.reshape(-1) if here.any() else None

    def named_lanes(self, operand) -> np.ndarray:
        """A membermask: one word for all lanes, or (warps, 32) words, as lanes of one warp may have different ones."""
        from gpu_simulator.ptx.ir import Register
        from gpu_simulator.ptx.types import immediate

        value = self.R[operand.index] if type(operand) is Register else immediate(operand.text, "u32")
        value = value.view(np.uint32)
        return value.reshape(-1, 32) if value.ndim else value

    def context(self, here: np.ndarray) -> Lanes:
        """The `Lanes` of a set of lanes, given as a Boolean mask; the last 64 are cached."""
        if here.all():
            self.at = None
            return self.all
        key = here.tobytes()
        found = self.contexts.get(key)
        if found is None:
            rows = here.reshape(-1, 32)
            some = rows.any(1)
            chosen = None if some.all() else np.flatnonzero(some)
            mask = (rows if chosen is None else rows[chosen]).reshape(-1)
            found = Lanes(self, chosen, None if mask.all() else np.ascontiguousarray(mask))
            if len(self.contexts) >= 64:
                self.contexts.pop(next(iter(self.contexts)))
            self.contexts[key] = found
        return found

    def goto(self, lanes: Lanes, target, where: np.ndarray | None = None) -> None:
        """Set the program counter of the executing lanes, or of those among them in `where`, to the block `target`."""
        self.at = None
        numbers = lanes.lane_numbers()
        if lanes.mask is not None:
            where = lanes.mask if where is None else where & lanes.mask
        self.pc[numbers if where is None else numbers[where]] = target
        if lanes.full and where is None:
            self.at = int(target)

    def naming_lanes(self, lanes: Lanes, count: int) -> np.ndarray:
        """(lanes.n,) Boolean: the lanes whose addresses are those of the rows of `count` 8 × 8 matrices (ldmatrix)."""
        key = (lanes.warps, count)
        if key not in self._naming:
            self._naming[key] = np.tile(np.arange(32) < 8 * count, lanes.warps)
        return self._naming[key]

    # ---- Names ----

    def describe(self, site: int) -> str:
        """The source line, opcode and PTX line of an instruction, in words."""
        return self.launch.describe(self.program.sites[site])

    def who(self, lanes: Lanes, position: int) -> str:
        """Block and thread of an executing lane, in words. position: among the executing lanes."""
        active = np.flatnonzero(lanes.active())
        lane = int(lanes.lane_numbers()[active[position] if position < len(active) else 0])
        return self.name_lane(lane)

    def name_block(self, block: int) -> str:
        """A resident block, in words."""
        x, y, _ = self.launch.grid
        number = int(self.block_ids[block])
        return f"block ({number % x}, {number // x % y}, {number // (x * y)})"

    def has_ended(self, block: int) -> bool:
        """Whether all threads of a resident block have ended."""
        lanes = 32 * self.warps_per_block
        return bool((self.pc[block * lanes : (block + 1) * lanes] == DONE).all())

    def crowd(self) -> tuple[int | None, int, int]:
        """(basic block, lanes, living lanes): where most lanes are that can go on; None if all of them wait."""
        pc = self.pc if self.at is None else np.full(self.lanes, self.at)
        living = pc[self.alive & (pc != DONE)]
        places, counts = np.unique(living[living < PARKED], return_counts=True)
        if not len(places):
            return None, len(living), len(living)
        return int(places[counts.argmax()]), int(counts.max()), len(living)

    def name_lane(self, lane: int) -> str:
        thread, (a, b, _) = int(self.thread_of_lane[lane]), self.launch.block
        return (
            f"{self.name_block(int(self.block_of_lane[lane]))}, "
            f"thread ({thread % a}, {thread // a % b}, {thread // (a * b)})"
        )

    def probe(self, lanes: Lanes, site: int, values: dict, after: bool) -> None:
        """Tell observers of an instruction of the launch's `probes`; called by generated code before and after it."""
        for observer in self.observers:
            observer.stopped(lanes, site, dict(values), after)
