"""Shared memory of blocks in clusters: an address contains the rank of its block, so that other blocks can use it."""

from __future__ import annotations

import numpy as np

from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.clusters import OFFSET_MASK, RANK_SHIFT
from gpu_simulator.machine.memory import SHIFT, SharedMemory, misaligned, picked_lanes

# PTX ISA, "mbarrier": these accept .shared::cta alone.
OWN_MBARRIER = ("init", "inval", "test_wait", "try_wait")


class ClusterMemory(SharedMemory):
    """Shared memory of blocks in clusters. Accesses to other blocks are counted by requests and bytes, not by banks."""

    def resolve(self, lanes, site: int, address, mask, width: int, kind: str = "shared"):
        """As `BlockMemory.resolve`. Raises `MemoryFault` also for a rank that does not exist, or a block that ended."""
        kin = address.dtype.type
        foreign = (address >> kin(RANK_SHIFT)) != lanes.cluster_ctarank
        if mask is not None:
            foreign &= mask
        if not foreign.any():
            return super().resolve(lanes, site, address & kin(OFFSET_MASK), mask, width, kind)
        resident, picked = self.resident, picked_lanes(lanes, mask)
        positions = np.arange(lanes.n) if picked is None else picked
        numbers = lanes.lane_numbers()[positions]
        blocks, offsets = self.split(site, numbers, np.broadcast_to(address, lanes.n)[positions])
        self.used(site, numbers, blocks)
        if int(offsets.max()) + width > self.size:
            self.out_of_bounds(lanes, site, address & kin(OFFSET_MASK), picked, width)
        if int(np.bitwise_or.reduce(offsets)) & (width - 1):
            misaligned(resident, lanes, site, self.space, address & kin(OFFSET_MASK), picked, width)
        counts = resident.sites[site]
        counts.requests += len(np.unique(numbers >> 5))
        counts.bytes += len(numbers) * width
        return (blocks * self.stride + offsets) >> SHIFT[width], picked

    def split(self, site: int, lanes: np.ndarray, at: np.ndarray):
        """(resident blocks, offsets) of shared addresses. lanes: numbers of the lanes that use them."""
        resident, size = self.resident, self.resident.cluster_size
        at = at.astype(np.int64)
        ranks, own = at >> RANK_SHIFT, resident.block_of_lane[lanes]
        blocks = own - own % size + ranks
        if int(ranks.max()) >= size or int(ranks.min()) < 0:
            bad = int(np.flatnonzero((ranks >= size) | (ranks < 0))[0])
            raise MemoryFault(
                f"{self.who(site, lanes[bad])} uses shared address {int(at[bad]):#x}, which names the block "
                f"of rank {int(ranks[bad])}; its cluster has {size} blocks, of ranks 0 to {size - 1}."
            )
        foreign = blocks != own
        if foreign.any():
            self.check_there(site, lanes[foreign], blocks[foreign])
        return blocks, at & OFFSET_MASK

    def place(self, lane: int, address: int) -> tuple[int, int]:
        own, size = int(self.resident.block_of_lane[lane]), self.resident.cluster_size
        return own - own % size + (address >> RANK_SHIFT), address & OFFSET_MASK

    def used(self, site: int, lanes, blocks) -> None:
        """Check the instruction and tell observers if some of the blocks are not those of the lanes themselves."""
        foreign = blocks != self.resident.block_of_lane[lanes]
        if foreign.any():
            self.check_space(site, int(lanes[foreign][0]))
            for observer in self.resident.observers:
                observer.shared_elsewhere(site, lanes[foreign], blocks[foreign])

    def check_there(self, site: int, lanes, blocks) -> None:
        """Raise `MemoryFault` if a block whose memory others use has ended."""
        resident = self.resident
        for block in np.unique(blocks).tolist():
            if resident.has_ended(block):
                raise MemoryFault(
                    f"{self.who(site, lanes[blocks == block][0])} uses the shared memory of "
                    f"{resident.name_block(block)}, which has ended. A block has to stay until the others "
                    "are done with its shared memory: let all of them meet at barrier.cluster before "
                    "they end."
                )

    def check_space(self, site: int, lane: int) -> None:
        item = self.resident.program.sites[site]
        if item.family == "mbarrier" and item.parts[1] in OWN_MBARRIER:
            raise MemoryFault(
                f"{self.who(site, lane)} uses the mbarrier of another block of its cluster with "
                f"{item.opcode}; a block initialises and waits at its own, and arrives at any."
            )
        if {"shared", "shared__cta"} & set(item.parts):
            raise MemoryFault(
                f"{self.who(site, lane)} uses an address in another block of its cluster with "
                f"{item.opcode}, which reaches its own shared memory only; .shared::cluster reaches that "
                "of the others."
            )

    def who(self, site: int, lane: int) -> str:
        resident = self.resident
        return f"{resident.describe(site)}: {resident.name_lane(int(lane))}"
