"""The warp states that Nsight Compute distinguishes, what a warp waits for in each, and what reduces the waiting.

In every cycle an active warp is in one state. ncu's `smsp__average_warps_issue_stalled_<state>_per_issue_active` is the
number of warps in a state per issued instruction. By Little's law, these are the cycles that a warp spends in the state
for each instruction that it issues. The meanings follow the table of warp states in NVIDIA's Nsight Compute
documentation.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stall:
    """One state. key: its name in ncu's metric.   label: its name here.   helps: what reduces the waiting."""

    key: str
    label: str
    waits_for: str
    helps: str

    @property
    def metric(self) -> str:
        return f"smsp__average_warps_issue_stalled_{self.key}_per_issue_active.ratio"

    @property
    def column(self) -> str:
        return f"stall_{self.key}"


STALLS = (
    Stall(
        "long_scoreboard",
        "long scoreboard",
        "data from global memory (L1, L2, DRAM)",
        "more loads in flight before the first use, or loads issued a tile earlier, behind its mathematics",
    ),
    Stall(
        "lg_throttle",
        "LG throttle",
        "room in the queue of global and local memory instructions",
        "fewer and wider global loads and stores",
    ),
    Stall(
        "mio_throttle",
        "MIO throttle",
        "room in the queue of shared-memory instructions",
        "fewer shared-memory instructions or wavefronts: no conflicts, wider accesses, larger warp tiles",
    ),
    Stall(
        "short_scoreboard",
        "short scoreboard",
        "data from shared memory",
        "ldmatrix issued earlier (the next fragments during this mma), fewer bank conflicts",
    ),
    Stall(
        "barrier",
        "barrier",
        "the other warps of the block at __syncthreads",
        "fewer barriers (a second shared-memory buffer saves one), or more blocks on a multiprocessor",
    ),
    Stall(
        "math_pipe_throttle",
        "math pipe throttle",
        "the tensor core or another arithmetic pipe, which is busy",
        "fewer instructions for the pipe that is busy; a tensor pipe that is always busy is the limit",
    ),
    Stall(
        "wait",
        "wait",
        "the fixed latency of its last instruction",
        "more independent instructions between dependent ones, or more warps",
    ),
    Stall(
        "dispatch_stall",
        "dispatch",
        "the dispatcher, which holds the instruction back (register ports, conflicts)",
        "another order of instructions; ptxas decides it",
    ),
    Stall(
        "not_selected",
        "not selected",
        "its turn: another warp issued in this cycle",
        "nothing, there are enough warps: fewer instructions, or fewer warps with larger tiles",
    ),
    Stall(
        "no_instruction",
        "no instruction",
        "its next instruction from the instruction cache",
        "a shorter loop body: less unrolling",
    ),
    Stall("branch_resolving", "branch resolving", "the target of a branch", "fewer branches in the loop"),
    Stall("membar", "memory barrier", "a memory fence", "fewer fences"),
    Stall("tex_throttle", "TEX throttle", "room in the queue of texture instructions", "fewer texture instructions"),
    Stall("imc_miss", "constant miss", "a constant that is not in the cache", "fewer different constants"),
    Stall(
        "gmma",
        "GMMA",
        "the asynchronous tensor instructions of its warpgroup",
        "more independent wgmma in flight, or more consumer warpgroups",
    ),
    Stall("sleeping", "sleeping", "the end of nanosleep", "shorter sleeps"),
    Stall("drain", "drain", "its last stores, after EXIT", "fewer and wider stores in the epilogue"),
    Stall("misc", "other", "something that ncu does not name", "nothing that a counter shows"),
    Stall("selected", "selected", "nothing: it issues", "nothing: this is the work"),
)
BY_KEY = {stall.key: stall for stall in STALLS}
