"""Refuses instructions that synchronise threads or depend on the machine in ways that the rung does not use.

An exercise counts barriers, waits, loads and hazards. Volatile stores, atomic operations, or polling a clock could
replace a barrier or a load without being counted, and a kernel that reads the number of multiprocessors could be right
on one machine only. So an answer may use only those families of such instructions that the rung's own text has.
"""

from __future__ import annotations

import re
from collections.abc import Set

from gemm_lab_classroom.judge.inline_ptx import without_comments

# `activemask` is not among them: which lanes execute together is up to the hardware.
# Instructions that compute, move, compare, convert, branch, exchange within a warp, multiply, or order memory accesses.
# None of them lets one warp wait for another. PTX ISA, "Instructions".
_HARMLESS = {
    "abs",
    "add",
    "addc",
    "and",
    "bar.warp",
    "bfe",
    "bfi",
    "bfind",
    "bmsk",
    "bra",
    "brev",
    "brx",
    "call",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "createpolicy",
    "cvt",
    "cvta",
    "div",
    "dp2a",
    "dp4a",
    "elect",
    "ex2",
    "exit",
    "fence",
    "fma",
    "fns",
    "isspacep",
    "ld",
    "ldmatrix",
    "ldu",
    "lg2",
    "lop3",
    "mad",
    "mad24",
    "madc",
    "match",
    "max",
    "membar",
    "min",
    "mma",
    "mov",
    "movmatrix",
    "mul",
    "mul24",
    "nanosleep",
    "neg",
    "not",
    "or",
    "popc",
    "prmt",
    "rcp",
    "redux",
    "rem",
    "ret",
    "rsqrt",
    "sad",
    "selp",
    "set",
    "setp",
    "shf",
    "shfl",
    "shl",
    "shr",
    "sin",
    "slct",
    "sqrt",
    "st",
    "stmatrix",
    "sub",
    "subc",
    "szext",
    "tanh",
    "testp",
    "vote",
    "wmma",
    "xor",
}
# Modifiers that order a load or a store with those of other threads; an ordinary one has none of them.
_ORDERS = {"volatile", "relaxed", "acquire", "release", "mmio", "async"}
# Special registers that depend on the machine, on time or on scheduling (PTX ISA, "Special Registers").
_OF_THE_MACHINE = re.compile(
    r"%(n?warpid|n?smid|gridid|clock\w*|pm\d\w*|envreg\d+|globaltimer\w*|\w+_smem_\w+|"
    r"current_graph_exec)\b"
)
_SHARES = re.compile(r"\bsetmaxnreg\.(inc|dec)[\w.]*\s+(\d+)")


def family(opcode: str) -> str:
    """The family of an opcode, such as "atom", "bar" or "ld.volatile"; "" for one that any answer may use."""
    name, *rest = opcode.replace("::", ".").split(".")
    if name in ("bar", "barrier"):
        name = "bar.warp" if "warp" in rest else "barrier.cluster" if "cluster" in rest else "bar"
    if name in ("prefetch", "prefetchu") or name == "cp" and "prefetch" in rest:
        return "prefetch"
    if name in ("add", "sub", "mul", "fma", "mad") and (away := sorted({"rz", "rm", "rp"} & set(rest))):
        return f"{name}.{away[0]}"  # sums that are not rounded to the nearest number drift in one direction
    order = sorted(_ORDERS & set(rest)) if name in ("ld", "st") else []
    return f"{name}.{order[0]}" if order else "" if name in _HARMLESS else name


def foreign(opcodes: Set[str], ptx: str, own_opcodes: Set[str], own_ptx: str, block_threads: int = 0) -> str:
    """A sentence about a family, barrier or special register that an answer has and its rung has not; else "".

    opcodes, ptx: of the answer.   own_opcodes, own_ptx: of the rung's own text.   block_threads: of a block; a barrier
    of so many threads is one of all threads.
    """
    known = {family(opcode) for opcode in own_opcodes}
    for opcode in sorted(opcodes):
        if family(opcode) not in known | {""}:
            word = " Leave the word volatile out." if family(opcode).endswith(".volatile") else ""
            return (
                f"It uses {opcode}, and the rung has no instruction of that kind ({family(opcode)}). In this "
                "exercise threads synchronise and move data with the instructions of the rung, which are counted and "
                f"checked.{word}"
            )
    own_barriers = barriers(own_ptx)
    # bar.arrive without a wait is allowed at the barriers of the rung, with their number of threads.
    own_barriers |= {("bar.arrive", threads) for form, threads in own_barriers if form == "bar.sync" and threads}
    own_barriers |= {(form, str(block_threads)) for form, threads in own_barriers if form == "bar.sync" and not threads}
    for form, threads in sorted(barriers(ptx) - own_barriers):
        number = not threads or threads.isdigit() or threads.startswith(("0x", "-"))
        if form == "bar.warp.sync":
            who = f"with the mask {threads}" if number else "with a mask that is not a constant"
        else:
            who = f"of {threads or 'all'} threads" if number else "of a number of threads that is not a constant"
        return (
            f"It has a barrier “{form}” {who}, and the rung has none of that kind: a barrier with another "
            "number of threads or another mask does not synchronise exactly the threads that share the data."
        )
    for form in sorted(set(_SHARES.findall(ptx)) - set(_SHARES.findall(own_ptx))):
        return (
            f"It has setmaxnreg.{form[0]} to {form[1]} registers, and the rung does not: the registers that some "
            "warps give back are those that others wait for."
        )
    for name in sorted(set(_OF_THE_MACHINE.findall(ptx)) - set(_OF_THE_MACHINE.findall(own_ptx))):
        return (
            f"It reads the special register %{name}, whose value depends on the machine or on time. A kernel whose "
            "result depends on it may be right on one machine and wrong on another."
        )
    return ""


def barriers(ptx: str) -> set[tuple[str, str]]:
    """(kind, operand) of every barrier of blocks and warps in a PTX text, and of a full-warp barrier in any case.

    The operand is the number of threads, or the mask of lanes for bar.warp; "" means all.
    """
    body, found = without_comments(ptx), set()
    for opcode, operands in re.findall(r"\b(bar(?:rier)?\.[\w.:]+)\s+([^;]*);", body):
        parts = opcode.split(".")
        if "cluster" in parts:
            continue
        given = [operand.strip() for operand in operands.split(",")]
        if "warp" in parts:
            found.add(("bar.warp.sync", "" if given[0] in ("-1", "0xffffffff", "4294967295") else given[0]))
        else:
            kind = next((part for part in parts[1:] if part in ("sync", "arrive", "red")), parts[-1])
            # bar.red result, barrier{, threads}, predicate: waits as bar.sync does, and gives all threads a result.
            threads = given[2:-1] if kind == "red" else given[1:]
            found.add((f"bar.{'sync' if kind == 'red' else kind}", threads[0] if threads else ""))
    return found | {("bar.warp.sync", "")}
