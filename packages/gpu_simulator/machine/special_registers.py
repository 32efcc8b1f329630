"""Special registers: the indices of threads, blocks and clusters, lane masks, sizes, and clocks."""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.clusters import RANK_SHIFT, SPECIALS

_AXES = "tid ntid ctaid nctaid cluster_ctaid cluster_nctaid clusterid nclusterid"
_OTHERS = """
laneid warpid nwarpid smid nsmid clock clock64 clock_hi globaltimer globaltimer_lo globaltimer_hi gridid lanemask_eq
lanemask_le lanemask_lt lanemask_ge lanemask_gt dynamic_smem_size total_smem_size cluster_ctarank cluster_nctarank
is_explicit_cluster reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap reserved_smem_offset_0
reserved_smem_offset_1 envreg0 envreg1 envreg2
"""
# The names in PTX, without the %.
NAMES = frozenset(_OTHERS.split()) | {f"{name}.{axis}" for name in _AXES.split() for axis in "xyz"}
CLOCKS = {name for name in NAMES if name.startswith(("clock", "globaltimer"))}  # methods of resident blocks
# The system's own shared memory of a block is at addresses 0 to 287, and has room for 1,024 bytes. The regions that
# %reserved_smem_offset_0 and _1 name both begin at 0. Recorded on an H200: results/profiles/h200/rules.json.
RESERVED_END = 288


class SpecialRegisters:
    """Part of `ResidentBlocks`."""

    def clock(self):
        self.clock_ticks += 1
        return np.uint32(self.clock_ticks & 0xFFFFFFFF)

    def clock64(self):
        self.clock_ticks += 1
        return np.uint64(self.clock_ticks)

    globaltimer = clock64
    globaltimer_lo = clock
    clock_hi = globaltimer_hi = lambda self: np.uint32(self.clock_ticks >> 32)

    def special(self, name: str):
        """The value of a special register: a NumPy scalar if it is the same for all lanes, otherwise an array."""
        launch, u4 = self.launch, np.uint32
        stem, _, axis = name.partition("_")
        number = "xyz".find(name[-1]) if name[-2] == "_" else -1
        if stem in ("ntid", "nctaid"):
            return u4((launch.block if stem == "ntid" else launch.grid)[number])
        if name.startswith(SPECIALS):
            return launch.clusters.special(name, {axis: self.special(f"ctaid_{axis}") for axis in "xyz"})
        if name in ("window4", "window8"):  # address of a block's own shared memory, as 4 bytes and as 8
            window = self.special("cluster_ctarank") << u4(RANK_SHIFT)
            return window if name == "window4" else window.astype(np.uint64)
        if stem in ("tid", "ctaid"):
            flat, extents = (
                (self.thread_of_lane, launch.block)
                if stem == "tid"
                else (self.block_ids[self.block_of_lane], launch.grid)
            )
            if extents[number] == 1:
                return u4(0)
            if stem != "tid" and self.blocks == 1:
                flat = flat[0]
            divisor = int(np.prod(extents[:number], dtype=np.int64))
            return (flat // divisor % extents[number]).astype(u4)
        lane = (self.all_lanes % 32).astype(u4)
        one = u4(1)
        values = {
            "reserved_smem_offset_end": lambda: u4(RESERVED_END if launch.program.reserved else 0),
            "reserved_smem_offset_cap": lambda: u4(launch.program.reserved),
            "envreg1": lambda: u4(launch.program.workspace >> 32),
            "envreg2": lambda: u4(launch.program.workspace & 0xFFFFFFFF),
            "laneid": lambda: lane,
            "warpid": lambda: (self.thread_of_lane // 32).astype(u4),
            "nwarpid": lambda: u4(self.warps_per_block),
            "smid": lambda: u4(0),
            "nsmid": lambda: u4(1),
            "gridid": lambda: np.uint64(1),
            "dynamic_smem_size": lambda: u4(launch.dynamic_smem),
            "total_smem_size": lambda: u4(launch.smem_bytes - launch.program.shared_base),
            "lanemask_eq": lambda: one << lane,
            "lanemask_lt": lambda: (one << lane) - one,
            "lanemask_le": lambda: ((one << lane) - one) | (one << lane),
            "lanemask_gt": lambda: ~(((one << lane) - one) | (one << lane)),
            "lanemask_ge": lambda: ~((one << lane) - one),
        }
        return values[name]() if name in values else u4(0)
