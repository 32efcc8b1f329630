"""Which execution unit a machine instruction needs, and for how long.

A sub-partition (a quarter of an SM) issues one warp instruction a cycle. Each of its pipes takes an instruction for
some cycles: 32 lanes on 16 arithmetic units take 2. Instructions that touch memory go into a queue, `mio`, and from
there to units that all four sub-partitions share.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_simulator.hardware.instruction_descriptor import decode
from gpu_timing.cycles.constants_file import Constants
from gpu_timing.cycles.machine_code import NO_SCOREBOARD, Instruction

PIPES = ("tensor", "fma", "heavy", "alu", "xu", "uniform", "branch", "mio")

_ALU = frozenset((
    "IADD3", "VIADD", "LOP3", "ISETP", "SHF", "LEA", "SEL", "PRMT", "IMNMX", "VIMNMX", "VIADDMNMX", "IABS", "PLOP3",
    "P2R", "R2P", "FSETP", "FMNMX", "FSEL", "LEPC", "BMSK", "SGXT", "VABSDIFF", "FLO", "POPC", "MOV", "CS2R", "F2FP",
    "HADD2",
))  # fmt: skip
_FMA = frozenset(["FFMA", "FMUL", "FADD"])
_HEAVY = frozenset(["IMAD", "HFMA2", "HMUL2"])
_XU = frozenset(["MUFU", "F2F", "F2I", "I2F", "I2FP", "FRND"])
_BRANCH = frozenset((
    "BRA", "CALL", "RET", "EXIT", "BRX", "JMP", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "YIELD", "BMOV", "NOP",
    "NANOSLEEP",
))  # fmt: skip
_LOADS = frozenset((
    "LDS", "LDSM", "LDG", "LD", "LDL", "ATOMS", "ATOMG", "ATOM", "SHFL", "STS", "STSM", "STG", "ST", "STL", "RED",
    "LDGSTS",
))  # fmt: skip
WGMMA_KINDS = {"HGMMA": 1, "QGMMA": 2}  # products in the time of one with values of 16 bits
TCGEN05_KINDS = {"UTCHMMA": "f16", "UTCQMMA": "f8f6f4", "UTCIMMA": "i8"}
_ROOM = {"LDS": "shared", "LDSM": "shared", "STS": "shared", "STSM": "shared", "ATOMS": "shared"}


@dataclass(frozen=True)
class Step:
    """What the time model needs of one instruction.

    pipe: one of `PIPES`, or None.   cycles: how long the pipe is taken.   kind: what happens beyond the pipe.
    latency: cycles from issue to the result where a scoreboard waits for it; memory adds its own.
    """

    pipe: int | None
    cycles: float
    kind: str
    latency: float
    stall: int
    sets: int | None
    frees: int | None
    waits: tuple[int, ...]
    is_load: bool = False
    group: int = 0  # of DEPBAR: how many may be outstanding
    board: int = 0  # of DEPBAR: which scoreboard
    writes: int = 0  # registers that a load writes
    reads: tuple[int, int] = (0, 0)  # operands that it reads from the even and the odd registers


def steps_of(code: Sequence[Instruction], of: Constants) -> list[Step]:
    """The `Step` of each instruction on the GPU whose constants are `of`."""
    kept: dict[int, object] = {}  # place of an operand: register that the reuse cache holds
    steps = []
    for one in code:
        reads = (0, 0)
        if one.op in _FMA:
            fresh = {s.value for place, s in enumerate(one.sources[:3]) if s.kind == "R" and kept.get(place) != s.value}
            odd = sum(1 for register in fresh if register is not None and register % 2)  # type: ignore[operator]
            reads = (len(fresh - {None}) - odd, odd)
        kept = {place: s.value for place, s in enumerate(one.sources[:3]) if s.kind == "R" and one.reuse >> place & 1}
        steps.append(_step(one, of, reads))
    return steps


def _step(one: Instruction, of: Constants, reads: tuple[int, int]) -> Step:
    pipe, cycles, kind, latency = _unit(one, of)
    group = board = 0
    if one.op == "DEPBAR" or (one.op == "WARPGROUP" and "DEPBAR" in one.modifiers):
        kind = "depbar" if one.op == "DEPBAR" else "gsb"
        labels = [str(s.value) for s in one.sources if s.kind == "label"]
        board = int(labels[0][2:]) if labels and labels[0].startswith("SB") else 0
        group = next((int(s.value) for s in one.sources if s.kind == "imm"), 0)  # type: ignore[call-overload]
    return Step(
        None if pipe is None else PIPES.index(pipe),
        cycles,
        kind,
        latency,
        max(one.stall, 1),
        None if one.sets == NO_SCOREBOARD else one.sets,
        None if one.frees == NO_SCOREBOARD else one.frees,
        one.waits,
        one.op.startswith(("LD", "ATOM", "SHFL")),
        group,
        board,
        one.width if one.op in ("LDS", "LDSM", "LDG", "LD") else 0,
        reads,
    )


def _unit(one: Instruction, of: Constants) -> tuple[str | None, float, str, float]:
    op = one.op
    if op in ("HMMA", "IMMA", "QMMA", "OMMA", "DMMA"):
        return "tensor", tensor_cycles(one, of), "fixed", of["hmma_latency"]
    if op in WGMMA_KINDS:
        return "tensor", of["wgmma_issue_cycles"], "wgmma", 0
    if op in TCGEN05_KINDS or op == "UTCBAR":
        return "uniform", of["uniform_cycles"], "tcgen05_commit" if op == "UTCBAR" else "tcgen05", 0
    if op == "LDTM":
        return None, 0, "tmem", of["tmem_latency"]
    if op == "UTCATOMSWS":
        return None, 0, "slow", of["tmem_alloc_latency"]
    if op in _FMA:
        return "fma", of["ffma_cycles"], "fixed", of["fixed_latency"]
    if op in _HEAVY:
        return "heavy", of["imad_cycles"], "fixed", of["fixed_latency"]
    if op in _ALU:
        return "alu", of["alu_cycles"], "fixed", of["fixed_latency"]
    if op == "MOVM":
        return "mio", 0, "shuffle", of["movm_latency"]
    if op in _XU:
        return "xu", of["xu_cycles"], "slow", of["xu_latency"]
    if op in ("S2R", "S2UR"):
        return "mio", 0, "slow", of["special_register_latency"]
    if op in ("LDC", "LDCU", "ULDC"):
        return None, 0, "slow", of["constant_latency"]
    if op in ("R2UR", "VOTE", "VOTEU", "ELECT", "REDUX"):
        return "alu", of["alu_cycles"], "slow", of["to_uniform_latency"]
    if op == "LDGSTS":
        return "mio", 0, "copy", 0
    if op == "SHFL":
        return "mio", 0, "shuffle", of["shuffle_latency"]
    if op in _LOADS:
        return "mio", 0, _ROOM.get(op, "local" if op in ("LDL", "STL") else "global"), 0
    if op == "LDGDEPBAR":
        return None, 0, "commit", 0
    if op == "BAR":
        return "mio", 0, "barrier", 0
    if op == "SYNCS":
        return "mio", 0, "mbarrier", of["mbarrier_latency"]
    if op in ("UTMALDG", "UTMASTG"):
        return "uniform", of["uniform_cycles"], "tma", 0
    if op == "UTMACMDFLUSH":
        return None, 0, "commit", 0
    if op in ("MEMBAR", "FENCE", "ERRBAR", "CCTL", "CGAERRBAR"):
        return None, 0, "slow", of["fence_latency"]
    if op in ("UCGABAR_ARV", "UCGABAR_WAIT"):
        return None, 0, "slow", of["cluster_barrier_latency"]
    if op in _BRANCH:
        return "branch", of["branch_cycles"], "exit" if op == "EXIT" else "branch", 0
    if op == "WARPGROUP":
        return None, 0, "fixed", 0
    if op.startswith("U"):
        return "uniform", of["uniform_cycles"], "fixed", of["fixed_latency"]
    return "alu", of["alu_cycles"], "fixed", of["fixed_latency"]


def tensor_cycles(one: Instruction, of: Constants) -> float:
    """Cycles that a sub-partition's tensor core is taken by one `mma.sync`."""
    shape = one.modifiers[0] if one.modifiers else ""
    name = f"{one.op.lower()}_{shape.lower()}"
    if "F16" in one.modifiers[1:2] and f"{name}_f16_cycles" in of.values:
        return of[f"{name}_f16_cycles"]  # where sums in FP16 are faster than in FP32
    return of[f"{name}_cycles"] * (2 if "TF32" in one.modifiers else 1)


def flop_per_cycle(code: Sequence[Instruction], of: Constants) -> float:
    """Operations of an SM in a cycle, by the fastest of the instructions that multiply: what no run exceeds."""
    rates = [4 * 64 / of["ffma_cycles"]]
    for one in code:
        if one.op in ("HMMA", "IMMA", "QMMA", "OMMA") and (shape := re.match(r"(16|8)(8)(\d+)", one.modifiers[0])):
            rates.append(4 * 2 * math.prod(int(size) for size in shape.groups()) / tensor_cycles(one, of))
        elif one.op in WGMMA_KINDS:
            rates.append(wgmma_flop_per_cycle(one, of))
        elif one.op in TCGEN05_KINDS:
            rates.append(of["tcgen05_flop_per_cycle"] * (1 if one.op == "UTCHMMA" else 2))
        elif one.op in ("IDP", "FFMA2"):  # four products of 8 bits, or two of 32
            rates.append(4 * (256 if one.op == "IDP" else 128) / of["ffma_cycles"])
    return max(rates)


def wgmma_shape(one: Instruction) -> tuple[int, int, int]:
    """(m, n, k) of a product of `WGMMA_KINDS`."""
    m, n, k = (int(part) for part in one.modifiers[0].split("x"))
    return m, n, k


def wgmma_flop_per_cycle(one: Instruction, of: Constants) -> float:
    """Operations of an SM in a cycle: twice as many with values of 8 bits as with 16."""
    return of["wgmma_flop_per_cycle"] * WGMMA_KINDS[one.op]


def tcgen05_shape(one: Instruction, descriptor: int) -> tuple[int, int, int]:
    """(m, n, blocks) of a `tcgen05.mma` with this instruction descriptor: m rows in all of its one or two blocks."""
    found = decode(descriptor, TCGEN05_KINDS[one.op])
    return found.m, found.n, 2 if "2CTA" in one.modifiers else 1
