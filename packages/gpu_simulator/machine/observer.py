"""`Observer`: the events of a launch, as methods that the machine calls.

`launch(..., observers=[f])` calls f(resident) for each group of resident blocks, and the `Observer` that it returns
gets the events of those blocks in the order in which they happen. The race detector and the timeline's recorder are
observers. The code of an instruction reports its event by

    for observer in resident.observers:
        observer.write(lanes, site, memory, index, picked, width)

which costs an empty loop if there are none. An observer must not change the state of the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_simulator.ptx.ir import Negated, Register

if TYPE_CHECKING:
    from gpu_simulator.machine.asynchronous.tensor_moves import Operation
    from gpu_simulator.machine.asynchronous.transfers import Load, Store
    from gpu_simulator.machine.asynchronous.warpgroups import Flight
    from gpu_simulator.machine.barriers import Arrival
    from gpu_simulator.machine.lanes import Lanes
    from gpu_simulator.machine.mbarriers import Mbarrier
    from gpu_simulator.machine.resident_blocks import ResidentBlocks


class Observer:
    """Gets the events of one group of resident blocks. Every method does nothing; override those that you need.

    The parameters have the same meaning everywhere:
    site     number of the instruction, an index of `resident.program.sites`
    lanes    the `Lanes` of the warps that have reached it; `lanes.mask` gives those that execute
    mask     (lanes.n,) Boolean, or None for all: the lanes that execute, after the instruction's own guard
    numbers  (n,) lane numbers among the resident blocks: 32 for each warp, block by block
    lane     one such number; warp is lane // 32
    block    number of a resident block, an index of `resident.block_ids`
    index    int64, a scalar or (n,): positions in a memory, in elements of `width` bytes
    picked   (n,) positions of the executing lanes in `lanes`, or None for all
    """

    def __init__(self, resident: ResidentBlocks):
        self.resident = resident
        self.ignores_discarded = False  # whether `read` is not to be called for lanes that discard what they read

    # ---- Loads, stores and atomics ----

    def read(self, lanes: Lanes, site: int, memory: Any, index: Any, picked: Any, width: int) -> None:
        """Lanes read shared or global memory: `resident.shared` or `resident.memory`. Local memory has no events."""

    def write(
        self, lanes: Lanes, site: int, memory: Any, index: Any, picked: Any, width: int, values: Any = None
    ) -> None:
        """Lanes are about to write; memory still has its old contents.

        values: (lanes.n,) or a scalar of `width` bytes; None if they are not known.
        """

    def freed(self, lane: int, site: int, number: int, size: int) -> None:
        """A lane is about to free an allocation of the heap. number: in global memory.   size: in bytes."""

    def atomic(self, lanes: Lanes, site: int, memory: Any, index: Any, picked: Any, width: int) -> None:
        """Lanes are about to update memory atomically (atom, red)."""

    def shared_elsewhere(self, site: int, numbers: np.ndarray, blocks: np.ndarray) -> None:
        """Lanes use shared memory of other blocks of their cluster. blocks: (n,) whose memory each lane uses."""

    # ---- cp.async ----

    def copy_issued(self, lanes: Lanes, site: int, index: Any, picked: Any, width: int) -> None:
        """Lanes start a cp.async of `width` bytes to shared memory; a `read` event for its source came before."""

    def copies_committed(self, lanes: Lanes, site: int, mask: Any) -> None:
        """cp.async.commit_group."""

    def copies_waited(self, bounds: np.ndarray) -> None:
        """cp.async.wait_group. bounds: (resident.lanes,) for each lane, the first group that may still be in flight."""

    def copies_reported(self, load: Load) -> None:
        """cp.async.mbarrier.arrive: the copies of a lane that it has not waited for belong to this load from now on."""

    # ---- Bulk copies, and other operations that an mbarrier counts ----

    def load_issued(self, load: Load, barrier: Mbarrier) -> None:
        """A copy into shared memory starts; it will count at the barrier when it is complete."""

    def load_landed(self, load: Load, barrier: Mbarrier | None) -> None:
        """A load is complete and counts at its barrier from now on. barrier: None if it was invalidated meanwhile."""

    def store_issued(self, site: int, lane: int, index: np.ndarray) -> None:
        """A copy out of shared memory starts. index: (n,) positions that it reads, in units of 16 bytes."""

    def stores_committed(self, lanes: Lanes, mask: Any) -> None:
        """cp.async.bulk.commit_group."""

    def store_waited(self, store: Store) -> None:
        """A cp.async.bulk.wait_group of its lane covers a copy out of shared memory."""

    def stores_waited(self, bounds: dict[int, int], written: bool) -> None:
        """cp.async.bulk.wait_group. bounds: by lane, the first group that may still be in flight.

        written: the groups before have written all; after wait_group.read they have only read shared memory.
        """

    def global_copied(self, site: int, lane: int, place: Any, verb: str) -> None:
        """A bulk copy accesses global memory. place: has `.index` and `.width`.   verb: "reads" or "writes"."""

    # ---- mbarriers ----

    def mbarrier_initialised(self, site: int, lane: int, barrier: Mbarrier) -> None:
        """A lane has initialised a barrier."""

    def mbarrier_replaced(self, site: int, lane: int, barrier: Mbarrier) -> None:
        """A lane has initialised a barrier again, without mbarrier.inval. barrier: the one that is lost by that."""

    def mbarrier_invalidated(self, site: int, lane: int, barrier: Mbarrier) -> None:
        """A lane has executed mbarrier.inval, so the barrier's 8 bytes are ordinary memory again."""

    def mbarrier_used(self, site: int, barrier: Mbarrier, numbers: np.ndarray) -> None:
        """Lanes use a barrier in an instruction: they arrive, wait, or announce bytes."""

    def mbarrier_arrives(self, site: int, barrier: Mbarrier, numbers: np.ndarray) -> None:
        """Lanes are about to arrive; the phase that counts them is still `barrier.phase`."""

    def mbarrier_completed(self, barrier: Mbarrier) -> None:
        """The phase before `barrier.phase` has just completed. Waiting lanes continue only after this event."""

    def mbarrier_waits(self, site: int, barrier: Mbarrier, numbers: np.ndarray, phase: int) -> None:
        """Lanes test or wait for a phase, whatever the result."""

    def mbarrier_passed(self, site: int, barrier: Mbarrier, numbers: np.ndarray) -> None:
        """Lanes have seen that the phase before `barrier.phase` is complete."""

    # ---- Barriers of blocks and clusters ----

    def barrier_everyone(self, site: int, number: int) -> None:
        """All threads of all resident blocks arrive at a barrier of their block in one step, and continue."""

    def barrier_arrived(self, arrival: Arrival) -> None:
        """Threads of one block arrive at a barrier (bar.sync, bar.arrive, bar.red)."""

    def barrier_met(self, arrivals: list[Arrival]) -> None:
        """A barrier is complete, with these arrivals in their order. The threads that wait at it continue."""

    def cluster_arrived(self, site: int, numbers: np.ndarray, rounds: np.ndarray) -> None:
        """barrier.cluster.arrive. rounds: (n,) how often each lane has arrived, this time included."""

    def cluster_waits(self, site: int, numbers: np.ndarray, rounds: np.ndarray) -> None:
        """barrier.cluster.wait. rounds: (n,) the round for which each lane waits."""

    def cluster_passed(self, numbers: np.ndarray, cluster: int, turn: int) -> None:
        """Lanes that waited continue, because all threads of their cluster have arrived for round `turn`."""

    # ---- Fences, and synchronisation within a warp ----

    def fence(self, lanes: Lanes, wide: bool) -> None:
        """membar or fence. wide: of device or system scope; in a launch with clusters, of cluster scope as well."""

    def proxy_fence(self, lanes: Lanes, site: int, mask: Any, init_only: bool) -> None:
        """fence.proxy.async, or (init_only) fence.mbarrier_init."""

    def warps_met(self, lanes: Lanes, members: Any = None) -> None:
        """The executing lanes of each warp that give one membermask have synchronised, before the next event.

        members: (lanes.n,) or a scalar, uint32; None for whole warps.
        """

    def warps_exchanged(self, lanes: Lanes, site: int, members: Any) -> None:
        """The executing lanes that give one membermask have met in a shfl, vote, match or redux: it orders no memory.

        members: as for `warps_met`.
        """

    def absent_lane_read(self, lanes: Lanes, site: int, readers: np.ndarray, sources: np.ndarray) -> None:
        """Lanes shuffle a value from a lane that does not take part. readers: (lanes.n,) Boolean.

        sources: (lanes.n,) the lanes within the warp from which each lane reads.
        """

    def partial_warps(self, lanes: Lanes, site: int, rows: np.ndarray, partial: np.ndarray) -> None:
        """Only some lanes of a warp are about to execute an instruction that is .aligned.

        rows: (lanes.warps, 32) Boolean, the lanes that execute it.   partial: (lanes.warps,) Boolean, such warps.
        """

    def registers_shared(self, lanes: Lanes, site: int) -> None:
        """setmaxnreg."""

    def threads_ended(self) -> None:
        """Some threads have ended: those with `resident.pc` equal to `DONE`."""

    # ---- wgmma ----

    def wgmma_fence(self, site: int, groups: np.ndarray) -> None:
        """wgmma.fence. groups: (n,) warpgroups as `resident.warpgroups` numbers them."""

    def wgmma_registers_used(self, lanes: Lanes, site: int, registers: tuple, verb: str, mask: Any) -> None:
        """An instruction uses registers that hold accumulators or A of some wgmma.

        registers: their numbers.   verb: "reads", "writes", or "sets" if it sets them to a constant.
        """

    def wgmma_register_moved(self, lanes: Lanes, to: int, source: int, mask: Any) -> None:
        """A register of accumulators or of A is copied to another one. to, source: their numbers."""

    def wgmma_issued(self, flight: Flight, sources: list[np.ndarray]) -> None:
        """wgmma.mma_async. sources: positions in shared memory that it reads, of A (unless in registers) and of B:
        each (groups, lines, chunks), in units of 16 bytes."""

    def wgmma_committed(self, site: int, groups: np.ndarray) -> None:
        """wgmma.commit_group."""

    def wgmma_waited(self, flight: Flight, done: np.ndarray) -> None:
        """A wgmma.wait_group covers a wgmma. done: (groups of the flight,) Boolean, the groups that have waited."""

    # ---- tcgen05 ----

    def tcgen05_alloc_asked(self, site: int, warp: int, block: int, group: int) -> None:
        """A warp reaches tcgen05.alloc. group: of .cta_group, 1 or 2."""

    def tcgen05_allocated(self, site: int, lane: int, block: int, start: int, columns: int, place: int) -> None:
        """A warp gets its columns. place: where their address will be written, in 4-byte words of shared memory."""

    def tcgen05_deallocated(self, site: int, lane: int, block: int, start: int, columns: int) -> None:
        """A warp deallocates columns."""

    def tcgen05_executed(self, site: int, numbers: np.ndarray) -> None:
        """Lanes execute a tcgen05.mma, cp or shift; a `tcgen05_issued` for each of them follows."""

    def tcgen05_issued(self, product: Operation) -> None:
        """A lane issues one tcgen05.mma, cp or shift. Its `kind` is "mma", "cp" or "shift"."""

    def tcgen05_committed(self, load: Load, barrier: Mbarrier) -> None:
        """tcgen05.commit: the completion of what its lane has issued will count at the barrier as this load."""

    def tcgen05_loaded(
        self, site: int, warp: int, block: int, lane: int, column: int, shape: str, columns: int
    ) -> None:
        """tcgen05.ld of a warp. lane, column: where it begins in tensor memory.   shape: such as "32x32b"."""

    def tcgen05_stored(
        self, site: int, warp: int, block: int, lane: int, column: int, shape: str, columns: int
    ) -> None:
        """tcgen05.st, with the same parameters."""

    def tcgen05_waited(self, lanes: Lanes, site: int, what: str) -> None:
        """tcgen05.wait. what: "ld" or "st"."""

    def tcgen05_fence(self, lanes: Lanes, site: int, mask: Any, before: bool) -> None:
        """tcgen05.fence::before_thread_sync, or (not before) ::after_thread_sync."""

    # ---- Probes and the end ----

    def stopped(self, lanes: Lanes, site: int, values: dict, after: bool) -> None:
        """Called before and after each instruction of the launch's `probes`.

        values: local variables of the generated code; "r5" is register 5, (lanes.n,) or a scalar.
        """

    def value_of(self, lanes: Lanes, register: Register, values: dict) -> np.ndarray:
        """(lanes.n,) what a register holds when `stopped` is called.

        `values` has it if the code around the probe uses it; if not, it lies in the memory of registers.
        """
        held = values.get(f"r{register.index}")
        return np.broadcast_to(lanes.get(self.resident.R[register.index]) if held is None else held, lanes.n)

    def executing(self, lanes: Lanes, site: int, values: dict) -> np.ndarray:
        """(lanes.n,) Boolean, when `stopped` is called: the lanes that execute, after the instruction's own guard."""
        guard = self.resident.program.sites[site].guard
        active = lanes.active()
        if type(guard) is Negated:
            return active & ~self.value_of(lanes, guard.register, values)
        return active.copy() if guard is None else active & self.value_of(lanes, guard, values)

    def ended(self) -> None:
        """All threads have ended. No thread has waited for what is still in flight."""
