"""Splits a kernel into basic blocks: how each ends, which registers are live, and which blocks need a whole warp."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from gpu_simulator.faults import MalformedPtx, UnsupportedInstruction
from gpu_simulator.ptx.inlining import Flat
from gpu_simulator.ptx.ir import Group, Immediate, Instruction, Memory, Negated, Pair, Part, Register, Vector
from gpu_simulator.ptx.wgmma_forms import with_results

# Instructions that the lanes of a warp execute together.
COLLECTIVES = {
    "shfl", "vote", "match", "redux", "ldmatrix", "stmatrix", "mma", "wmma", "movmatrix", "elect", "wgmma",
    "setmaxnreg",
}  # fmt: skip
BARRIERS = {"bar", "barrier"}
FENCES = {"fence", "membar"}
# Instructions that read or write memory.
ACCESSES = {"ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "wmma", "wgmma", "mbarrier"}
NO_RESULT = {
    "st", "red", "bra", "brx", "ret", "exit", "trap", "brkpt", "membar", "fence", "cp", "stmatrix", "prefetch",
    "prefetchu", "nanosleep", "call", "discard", "applypriority", "pmevent", "setmaxnreg", "griddepcontrol", "enter",
    "leave",
}  # fmt: skip
MOST_BITS = 1 << 28  # blocks × registers; the largest kernel here has 2 million
WAITS = {"test_wait", "try_wait"}  # of mbarrier


@dataclass
class Block:
    """A basic block. `end` is "goto", "branch", "switch", "barrier", "enter", "leave", "exit" or "trap".

    `targets` are the numbers of the blocks that can follow. `warp_mask` names the lanes that must arrive together: an
    operand, "full" or "warpgroup"; None if each lane may come alone. `live_in`, `live_out`, `uses` and `defines` are
    sets of registers, as integers in which bit i stands for register i.
    """

    index: int
    code: list[Instruction] = field(default_factory=list)
    end: str = "goto"
    terminator: Instruction | None = None
    targets: tuple = ()
    warp_mask: object | None = None
    live_in: int = 0
    live_out: int = 0
    uses: int = 0
    defines: int = 0
    code_defines: int = 0  # like `defines`, without what the terminator writes
    line: int = 0

    @property
    def instructions(self) -> list[Instruction]:
        """The code and the terminator."""
        return self.code if self.terminator is None else [*self.code, self.terminator]


def registers_in(operand: Any) -> Iterator[int]:
    """The numbers of the registers that an operand names."""
    kind = type(operand)
    if kind is Register:
        yield operand.index
    elif kind in (Vector, Group):
        for item in operand.items:
            yield from registers_in(item)
    elif kind is Memory:
        yield from registers_in(operand.base)
        for item in operand.coordinates:
            yield from registers_in(item)
    elif kind in (Negated, Part):
        yield from registers_in(operand.register)
    elif kind is Pair:
        yield from registers_in(operand.first)
        yield from registers_in(operand.second)


def writes_first(item: Instruction) -> bool:
    """Whether the first operand is the destination."""
    family = item.family
    if family in NO_RESULT:
        return False
    if family in BARRIERS:
        return "red" in item.parts
    if family == "wmma":
        return "store" not in item.parts
    if family == "wgmma":
        return "mma_async" in item.parts
    if family == "mbarrier":
        return item.parts[1] not in ("init", "inval", "expect_tx", "complete_tx")
    if family == "clusterlaunchcontrol":
        return "query_cancel" in item.parts
    if family == "tcgen05":
        return item.parts[1] == "ld"
    return True


def reads_and_writes(item: Instruction) -> tuple[list[int], list[int]]:
    """The numbers of the registers that an instruction reads, and of those that it writes.

    A guarded instruction also reads its destinations, because it may leave them unchanged.
    """
    operands = item.operands
    writes: list[int] = []
    reads: list[int] = []
    if operands and writes_first(item):
        writes = list(registers_in(operands[0]))
        operands = operands[1:]
    for operand in operands:
        if type(operand) is Register:
            reads.append(operand.index)
        elif type(operand) is not Immediate:
            reads.extend(registers_in(operand))
    if item.guard is not None:
        reads.extend(registers_in(item.guard))
        reads.extend(writes)
    if item.family == "wgmma":  # accumulators are read and written; they may get their values at a wait_group
        if writes:
            reads.extend(writes)
        else:
            writes = list(reads)
    return reads, writes


def is_collective(item: Instruction) -> bool:
    """Whether a warp executes this instruction as a whole, so that its lanes must arrive together."""
    if item.family in COLLECTIVES or (item.family in BARRIERS and "warp" in item.parts):
        return True
    return item.family == "tcgen05" and "sync" in item.parts


def exchanges(item: Instruction) -> bool:
    """Whether lanes exchange values in this instruction; its last operand names them."""
    return item.family in ("shfl", "vote", "match", "redux") and "sync" in item.parts


def mask_operand(item: Instruction) -> Immediate | Register | str:
    """The operand that names the lanes of a collective; if there is none, "warpgroup" for wgmma, else "full"."""
    family = item.family
    if exchanges(item) or (family == "elect" and "sync" in item.parts):
        return lane_mask(item, item.operands[-1])
    if family in BARRIERS:
        return lane_mask(item, item.operands[0])
    if family == "wgmma":
        return "warpgroup"
    return "full"


def twins_of(blocks: list[Block]) -> dict[int, list[int]]:
    """By block, those that begin with another bar.warp.sync of the same constant mask: together they are one barrier.

    "... until all threads corresponding to membermask have executed a bar.warp.sync with the same membermask value":
    PTX ISA, bar.warp.sync. An H200 agrees: results/profiles/h200/rules.json, warp_barriers_in_two_branches.
    """
    by_mask: dict[str, list[int]] = {}
    for block in blocks:
        item = block.code[0] if block.code else None
        if item and item.family in BARRIERS and "warp" in item.parts and type(item.operands[0]) is Immediate:
            by_mask.setdefault(item.operands[0].text, []).append(block.index)
    return {
        index: [other for other in alike if other != index]
        for alike in by_mask.values()
        if len(alike) > 1
        for index in alike
    }


def lane_mask(item: Instruction, operand: Any) -> Immediate | Register:
    """The operand that names lanes: a number or a register of 32 bits. Raises `MalformedPtx` for anything else."""
    if type(operand) is Immediate or (type(operand) is Register and operand.type in ("b32", "u32", "s32")):
        return operand
    raise MalformedPtx(f"PTX line {item.line}: the lanes of {item.opcode} are named by what is no number of 32 bits.")


def blocks_of(flat: Flat) -> list[Block]:
    """The basic blocks of a kernel, split at labels, branches and barriers, and before the first collective of a block.

    Raises `MalformedPtx` and `UnsupportedInstruction`.
    """
    items, switch = _lowered(flat.body)
    items = with_results(items)
    blocks: list[Block] = [Block(0)]
    labels: dict[str, int] = {}

    current, closed = blocks[0], False
    for item in items:
        if isinstance(item, str):
            if current.code or closed:
                blocks.append(Block(len(blocks)))
                current, closed = blocks[-1], False
            labels[item] = current.index
            continue
        if closed:
            blocks.append(Block(len(blocks)))
            current, closed = blocks[-1], False
        current.line = current.line or item.line
        if is_collective(item):
            mask = mask_operand(item)
            if current.warp_mask != mask:
                if current.code:
                    blocks.append(Block(len(blocks)))
                    current = blocks[-1]
                    current.line = item.line
                current.warp_mask = mask
        end = _ending(item)
        if end:
            current.end, current.terminator, closed = end, item, True
            continue
        current.code.append(item)
        if item.family in FENCES and "proxy" not in item.parts:  # so that other threads may come between
            blocks.append(Block(len(blocks)))
            current = blocks[-1]
    if closed and current.end in ("branch", "barrier", "enter"):
        blocks.append(Block(len(blocks)))
        current, closed = blocks[-1], False
    if not closed:
        current.end = "exit"
    if len(blocks) * len(flat.registers) > MOST_BITS:
        raise UnsupportedInstruction(
            f"{flat.name} has {len(blocks):,} pieces of code between labels and {len(flat.registers):,} registers, "
            "more than can be followed here."
        )
    for block in blocks:
        _connect(block, labels, switch)
    entering = [b for b in blocks if b.end == "enter"]
    for block in blocks:
        if block.end == "leave":  # it leaves the copy, or returns to any of the calls
            number = block.terminator.operands[0]
            back = [b.targets[1] for b in entering if b.terminator.operands[0] == number]
            block.targets = (labels[block.terminator.target], *back)
    _liveness(blocks)
    return blocks


def _ending(item: Instruction) -> str:
    family = item.family
    if family == "bra":
        return "branch" if item.guard is not None else "goto"
    if family == "brx":
        return "switch"
    if family in ("ret", "exit"):
        return "exit"
    if family in ("enter", "leave"):  # calls and returns of recursive functions
        return family
    if family == "trap":
        return "trap"
    if (family == "mbarrier" and item.parts[1] in WAITS) or (family == "tcgen05" and item.parts[1] == "alloc"):
        return "barrier"
    if family == "tcgen05" and item.parts[1] in ("dealloc", "relinquish_alloc_permit") and "cta_group__2" in item.parts:
        return "barrier"
    if family in BARRIERS and "warp" not in item.parts and not {"cluster", "arrive"} <= set(item.parts):
        return "barrier"
    return ""


def _lowered(body: list) -> tuple[list, dict]:
    """The body, in which guards of barriers, exits and collectives have become branches around them.

    The second result is {label of a list of branch targets: its labels}.
    """
    items: list = []
    switch: dict[str, list[str]] = {}
    for number, item in enumerate(body):
        if isinstance(item, tuple):
            switch[item[1]] = item[2]
            continue
        if isinstance(item, str) or item.guard is None or item.family == "bra":
            items.append(item)
            continue
        if _ending(item) or is_collective(item) or item.family in ("call", "brx"):
            inverse = item.guard.register if isinstance(item.guard, Negated) else Negated(item.guard)
            label = f"$guard{number}"
            items.append(replace(item, opcode="bra", parts=("bra",), operands=(), guard=inverse, target=label))
            items.append(replace(item, guard=None))
            items.append(label)
        else:
            items.append(item)
    return items, switch


def _connect(block: Block, labels: dict, switch: dict) -> None:
    following = block.index + 1
    if block.terminator is None and block.end != "exit":
        block.targets = (following,)
    elif block.end == "goto":
        block.targets = (labels[block.terminator.target],)
    elif block.end in ("branch", "enter"):
        block.targets = (labels[block.terminator.target], following)
    elif block.end == "switch":
        if not switch.get(block.terminator.target):
            raise MalformedPtx(f"PTX line {block.terminator.line}: {block.terminator.opcode} has no .branchtargets.")
        block.targets = tuple(labels[name] for name in switch[block.terminator.target])
    elif block.end == "barrier":
        block.targets = (following,)


def _liveness(blocks: list[Block]) -> None:
    for block in blocks:
        uses = defines = 0
        for item in block.instructions:
            if item is block.terminator:
                block.code_defines = defines
            reads, writes = reads_and_writes(item)
            for register in reads:
                bit = 1 << register
                if not defines & bit:
                    uses |= bit
            for register in writes:
                defines |= 1 << register
        block.uses, block.defines = uses, defines
        if block.terminator is None:
            block.code_defines = defines
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = 0
            for target in block.targets:
                if target < len(blocks):
                    out |= blocks[target].live_in
            block.live_out = out
            live = block.uses | (out & ~block.defines)
            if live != block.live_in:
                block.live_in, changed = live, True


def bits(mask: int) -> Iterator[int]:
    """The positions of the set bits, ascending."""
    text = bin(mask)[:1:-1]
    position = text.find("1")
    while position >= 0:
        yield position
        position = text.find("1", position + 1)
