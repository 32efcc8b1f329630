"""The events of a launch. An instruction describes what it does to whoever listens; if nobody does, nothing is said.

`launch(..., observers=[f])` calls f(resident) for each group of resident blocks, and the `Observer` that it returns
hears what those blocks do, in the order in which they do it. The race detector is one, the timeline's recorder another.
Code that acts says

    for observer in resident.observers:
        observer.write(lanes, site, memory, index, picked, width)

and pays for an empty loop when there are none. An observer looks at the machine and changes nothing in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gpu_simulator.machine.asynchronous.tensor_product import Product
    from gpu_simulator.machine.asynchronous.transfers import Load, Store
    from gpu_simulator.machine.asynchronous.warpgroups import Flight
    from gpu_simulator.machine.barriers import Arrival
    from gpu_simulator.machine.lanes import Lanes
    from gpu_simulator.machine.mbarriers import Mbarrier
    from gpu_simulator.machine.resident_blocks import ResidentBlocks


class Observer:
    """Hears the events of one group of resident blocks. Every method does nothing; override those you want.

    Parameters mean the same everywhere:
    site     number of the instruction, an index of `resident.program.sites`
    lanes    the `Lanes` of the warps that stand at it; `lanes.mask` tells which of them execute
    mask     (lanes.n,) Boolean, or None for all: who of these executes, its own guard included
    numbers  (n,) lane numbers among the resident blocks: 32 for each warp, block by block
    lane     one such number; warp is lane // 32
    block    number of a resident block, an index of `resident.block_ids`
    index    int64, a scalar or (n,): places in a memory, in elements of `width` bytes
    picked   (n,) positions of the executing lanes in `lanes`, or None for all
    """

    def __init__(self, resident: ResidentBlocks):
        self.resident = resident

    # ---- Loads, stores and atomics ----

    def read(self, lanes: Lanes, site: int, memory: Any, index: Any, picked: Any, width: int) -> None:
        """Lanes read shared or global memory: `resident.shared` or `resident.memory`. Local memory is not told of."""

    def write(
        self, lanes: Lanes, site: int, memory: Any, index: Any, picked: Any, width: int, values: Any = None
    ) -> None:
        """Lanes are about to write; memory still holds what was there.

        values: (lanes.n,) or a scalar of `width` bytes; None where they are not known.
        """

    def atomic(self, lanes: Lanes, site: int, memory: Any, index: Any, picked: Any, width: int) -> None:
        """Lanes are about to update memory atomically (atom, red)."""

    def shared_elsewhere(self, site: int, numbers: np.ndarray, blocks: np.ndarray) -> None:
        """Lanes name shared memory of other blocks of their cluster. blocks: (n,) whose it is."""

    # ---- cp.async ----

    def copy_issued(self, lanes: Lanes, site: int, index: Any, picked: Any, width: int) -> None:
        """Lanes start a cp.async of `width` bytes to shared memory; a `read` has told what it reads."""

    def copies_committed(self, lanes: Lanes, site: int, mask: Any) -> None:
        """cp.async.commit_group."""

    def copies_waited(self, bounds: np.ndarray) -> None:
        """cp.async.wait_group. bounds: (resident.lanes,) of each lane, the first group that may still be in flight."""

    def copies_reported(self, load: Load) -> None:
        """cp.async.mbarrier.arrive: the copies of a lane that were not waited for will count as this load."""

    # ---- Bulk copies, and what else an mbarrier counts ----

    def load_issued(self, load: Load, barrier: Mbarrier) -> None:
        """A copy into shared memory starts; it will count at the barrier when it has landed."""

    def load_landed(self, load: Load, barrier: Mbarrier | None) -> None:
        """Its bytes are there, and count from now on. barrier: None where it was invalidated meanwhile."""

    def store_issued(self, site: int, lane: int, index: np.ndarray) -> None:
        """A copy out of shared memory starts. index: (n,) what it reads, in units of 16 bytes."""

    def stores_committed(self, lanes: Lanes, mask: Any) -> None:
        """cp.async.bulk.commit_group."""

    def store_waited(self, store: Store) -> None:
        """cp.async.bulk.wait_group of its lane covers a copy out of shared memory."""

    def global_copied(self, site: int, lane: int, place: Any, verb: str) -> None:
        """A bulk copy uses global memory. place: has `.index` and `.width`.   verb: "reads" or "writes"."""

    # ---- mbarriers ----

    def mbarrier_initialised(self, site: int, lane: int, barrier: Mbarrier) -> None:
        """A lane has initialised a barrier."""

    def mbarrier_invalidated(self, site: int, lane: int, barrier: Mbarrier) -> None:
        """A lane has given the barrier's 8 bytes back to ordinary use."""

    def mbarrier_used(self, site: int, barrier: Mbarrier, numbers: np.ndarray) -> None:
        """Lanes name a barrier in an instruction: they arrive, wait, or announce bytes."""

    def mbarrier_arrives(self, site: int, barrier: Mbarrier, numbers: np.ndarray) -> None:
        """Lanes are about to arrive; the phase that counts them is still `barrier.phase`."""

    def mbarrier_completed(self, barrier: Mbarrier) -> None:
        """The last arrival or byte has come: the phase before `barrier.phase` is over. Nobody goes on before this."""

    def mbarrier_waits(self, site: int, barrier: Mbarrier, numbers: np.ndarray, phase: int) -> None:
        """Lanes ask whether a phase is over, whichever answer they get."""

    def mbarrier_passed(self, site: int, barrier: Mbarrier, numbers: np.ndarray) -> None:
        """Lanes have seen that the phase before `barrier.phase` is over."""

    # ---- Barriers of blocks and clusters ----

    def barrier_everyone(self, number: int) -> None:
        """All threads of all resident blocks come to a barrier of their block in one step, and go on."""

    def barrier_arrived(self, arrival: Arrival) -> None:
        """Threads of one block come to a barrier (bar.sync, bar.arrive, bar.red)."""

    def barrier_met(self, arrivals: list[Arrival]) -> None:
        """All that the barrier waits for have come: these arrivals, in their order. Those that wait go on."""

    def cluster_arrived(self, site: int, numbers: np.ndarray, rounds: np.ndarray) -> None:
        """barrier.cluster.arrive. rounds: (n,) for how manieth time each lane arrives, from 1."""

    def cluster_waits(self, site: int, numbers: np.ndarray, rounds: np.ndarray) -> None:
        """barrier.cluster.wait. rounds: (n,) for the end of which round each lane waits."""

    def cluster_passed(self, numbers: np.ndarray, cluster: int, turn: int) -> None:
        """Lanes that waited go on, because all of their cluster have arrived for round `turn`."""

    # ---- Fences, and lanes that come together ----

    def fence(self, lanes: Lanes, wide: bool) -> None:
        """membar or fence. wide: of the device or the system; where blocks form clusters, of the cluster as well."""

    def proxy_fence(self, lanes: Lanes, site: int, mask: Any, init_only: bool) -> None:
        """fence.proxy.async, or (init_only) fence.mbarrier_init."""

    def warps_met(self, lanes: Lanes) -> None:
        """The executing lanes of each warp came together, before the access that is told next."""

    def threads_ended(self) -> None:
        """Some threads have ended; `resident.pc` tells which."""

    # ---- wgmma ----

    def wgmma_fence(self, site: int, groups: np.ndarray) -> None:
        """wgmma.fence. groups: (n,) warpgroups as `resident.warpgroups` numbers them."""

    def wgmma_registers_used(self, lanes: Lanes, site: int, registers: tuple, verb: str, mask: Any) -> None:
        """An instruction uses registers that some wgmma has as accumulators or as A.

        registers: their numbers.   verb: "reads", "writes", or "sets" where it sets them to a constant.
        """

    def wgmma_register_moved(self, lanes: Lanes, to: int, source: int, mask: Any) -> None:
        """Such a register is copied to another one, both by number."""

    def wgmma_issued(self, flight: Flight, sources: list[np.ndarray]) -> None:
        """wgmma.mma_async. sources: what it reads in shared memory, of A (unless in registers) and of B: each
        (groups, lines, chunks), in units of 16 bytes."""

    def wgmma_committed(self, site: int, groups: np.ndarray) -> None:
        """wgmma.commit_group."""

    def wgmma_waited(self, flight: Flight, done: np.ndarray) -> None:
        """A wgmma.wait_group covers a wgmma. done: (groups of the flight,) Boolean, for whom."""

    # ---- tcgen05 ----

    def tcgen05_alloc_asked(self, site: int, warp: int, block: int, group: int) -> None:
        """A warp comes to tcgen05.alloc. group: of .cta_group, 1 or 2."""

    def tcgen05_allocated(self, site: int, lane: int, block: int, start: int, columns: int, place: int) -> None:
        """Its columns are found. place: where their address will be written, in words of 4 bytes of shared memory."""

    def tcgen05_deallocated(self, site: int, lane: int, block: int, start: int, columns: int) -> None:
        """A warp gives columns back."""

    def tcgen05_executed(self, site: int, numbers: np.ndarray) -> None:
        """Lanes come to a tcgen05.mma; a `tcgen05_issued` for each of them follows."""

    def tcgen05_issued(self, product: Product) -> None:
        """One product is asked for."""

    def tcgen05_committed(self, load: Load, barrier: Mbarrier) -> None:
        """tcgen05.commit: what its lane has asked for will count at the barrier as this load."""

    def tcgen05_loaded(
        self, site: int, warp: int, block: int, lane: int, column: int, shape: str, columns: int
    ) -> None:
        """tcgen05.ld of a warp. lane, column: where it begins in tensor memory.   shape: "32x32b" and so on."""

    def tcgen05_stored(
        self, site: int, warp: int, block: int, lane: int, column: int, shape: str, columns: int
    ) -> None:
        """tcgen05.st, with the same parameters."""

    def tcgen05_waited(self, lanes: Lanes, site: int, what: str) -> None:
        """tcgen05.wait. what: "ld" or "st"."""

    def tcgen05_fence(self, lanes: Lanes, site: int, mask: Any, before: bool) -> None:
        """tcgen05.fence::before_thread_sync, or (not before) ::after_thread_sync."""

    # ---- Stops and the end ----

    def stopped(self, lanes: Lanes, site: int, values: dict, after: bool) -> None:
        """Before and after each instruction of the launch's `probes`.

        values: "r5" -> what register 5 holds, (lanes.n,) or a scalar.
        """

    def ended(self) -> None:
        """All threads have ended. What is in flight now was waited for by nobody."""
