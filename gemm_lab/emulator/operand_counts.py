"""How many operands an opcode takes at least, so that its code writer finds those that it looks for. Source: PTX ISA."""

from __future__ import annotations

_COUNTS = {
    1: "activemask createpolicy setmaxnreg call bar barrier pmevent nanosleep",
    2: "abs neg not cnot sqrt rcp rsqrt sin cos lg2 ex2 tanh popc clz bfind brev cvt mov cvta isspacep testp ld ldu st red "
    "vote elect ldmatrix stmatrix movmatrix wmma getctarank",
    3: "add sub mul div rem min max and or xor shl shr copysign setp set atom match redux mapa mul24 bmsk szext addc subc "
    "vabsdiff4 vadd4 vsub4 vmin4 vmax4 vavrg4",
    4: "mad fma selp slct shf bfe prmt shfl mma mad24 sad dp4a dp2a madc fns",
    5: "lop3 bfi",
}
_FEWEST = {family: count for count, families in _COUNTS.items() for family in families.split()}
# By family and first modifier.
_OF_FORM = {
    ("mbarrier", "init"): 2, ("mbarrier", "inval"): 1, ("mbarrier", "arrive"): 2, ("mbarrier", "arrive_drop"): 2,
    ("mbarrier", "expect_tx"): 2, ("mbarrier", "complete_tx"): 2, ("mbarrier", "test_wait"): 3,
    ("mbarrier", "try_wait"): 3, ("mbarrier", "pending_count"): 2, ("wmma", "mma"): 4, ("vote", "sync"): 3,
    ("shfl", "sync"): 5, ("bar", "red"): 3, ("barrier", "red"): 3, ("barrier", "cluster"): 0, ("wgmma", "wait_group"): 1,
    ("wgmma", "mma_async"): 4, ("tcgen05", "alloc"): 2, ("tcgen05", "dealloc"): 2, ("tcgen05", "mma"): 5,
    ("tcgen05", "ld"): 2, ("tcgen05", "st"): 2, ("tcgen05", "commit"): 1,
}  # fmt: skip


def fewest_operands(parts: tuple[str, ...]) -> int:
    """parts: of the opcode, split at its dots."""
    if len(parts) > 1 and (parts[0], parts[1]) in _OF_FORM:
        return _OF_FORM[parts[0], parts[1]]
    return _FEWEST.get(parts[0], 0)
