"""The least number of operands of each opcode, and the types that it allows. The code generator relies on these checks.

Source: PTX ISA, the forms that are executed here.
"""

from __future__ import annotations

_COUNTS = {
    1: "activemask createpolicy setmaxnreg call bar barrier pmevent nanosleep",
    2: """abs neg not cnot sqrt rcp rsqrt sin cos lg2 ex2 tanh popc clz bfind brev cvt mov cvta isspacep testp ld ldu st
    red vote elect ldmatrix stmatrix movmatrix wmma getctarank""",
    3: """add sub mul div rem min max and or xor shl shr copysign setp set atom match redux mapa mul24 bmsk szext addc
    subc vabsdiff2 vabsdiff4 vadd4 vsub4 vmin4 vmax4 vavrg4 vadd vsub vmin vmax""",
    4: "fns vmad mad fma selp slct shf bfe prmt shfl mma mad24 sad dp4a dp2a madc",
    5: "lop3 bfi",
}
_FEWEST = {family: count for count, families in _COUNTS.items() for family in families.split()}
# By family and first modifier.
_OF_FORM = {
    ("mbarrier", "init"): 2, ("mbarrier", "inval"): 1, ("mbarrier", "arrive"): 2, ("mbarrier", "arrive_drop"): 2,
    ("mbarrier", "expect_tx"): 2, ("mbarrier", "complete_tx"): 2, ("mbarrier", "test_wait"): 3,
    ("mbarrier", "try_wait"): 3, ("mbarrier", "pending_count"): 2, ("wmma", "mma"): 4, ("vote", "sync"): 3,
    ("shfl", "sync"): 5, ("bar", "red"): 3, ("barrier", "red"): 3, ("barrier", "cluster"): 0,
    ("wgmma", "wait_group"): 1, ("wgmma", "mma_async"): 4, ("tcgen05", "alloc"): 2, ("tcgen05", "dealloc"): 2,
    ("tcgen05", "mma"): 5, ("tcgen05", "ld"): 2, ("tcgen05", "st"): 2, ("tcgen05", "commit"): 1,
    ("tcgen05", "cp"): 2, ("tcgen05", "shift"): 1, ("mma", "sp"): 6, ("mma", "sp__ordered_metadata"): 6,
}  # fmt: skip


def fewest_operands(parts: tuple[str, ...]) -> int:
    """The least number of operands of an opcode; 0 if it is not listed. parts: the opcode split at its dots."""
    if len(parts) > 1 and (parts[0], parts[1]) in _OF_FORM:
        return _OF_FORM[parts[0], parts[1]]
    return _FEWEST.get(parts[0], 0)


_WHOLE = "u16 s16 u32 s32 u64 s64"
_BITS = "b16 b32 b64"
_HALF = "f16 f16x2 bf16 bf16x2"
_FLOAT = "f32 f64"
_TYPES = {
    "add sub mul mad fma div min max abs neg": f"{_WHOLE} {_FLOAT} {_HALF} f32x2 u16x2 s16x2",
    "rem sad addc subc madc": _WHOLE,
    "mul24 mad24 szext": "u32 s32",
    "sqrt rcp rsqrt sin cos lg2 copysign testp": _FLOAT,
    "ex2 tanh": f"{_FLOAT} {_HALF}",
    "and or xor not": f"pred {_BITS}",
    "cnot": _BITS,
    "shl shr": f"{_BITS} {_WHOLE}",
    "setp set": f"{_BITS} {_WHOLE} {_FLOAT} {_HALF}",
    "selp slct": f"{_BITS} {_WHOLE} {_FLOAT}",
    "mov": f"pred {_BITS} {_WHOLE} {_FLOAT} {_HALF} b128",
    "cvt": f"u8 s8 {_WHOLE} {_FLOAT} {_HALF} tf32 e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2",
    "ld ldu st": f"b8 u8 s8 {_BITS} {_WHOLE} {_FLOAT} f16 bf16 f16x2 bf16x2 b128",
    "atom red": f"{_BITS} {_WHOLE} {_FLOAT} {_HALF} b128",
    "popc clz bfind brev bfe bfi": "b32 b64 u32 s32 u64 s64",
    "prmt lop3 shfl activemask bmsk shf": "b32 u32",
    "match": "b32 b64",
    "redux": "u32 s32 b32 f32",
    "vote": "pred b32",
    "fns": "b32",
    "vadd vsub vmin vmax vmad dp4a dp2a vabsdiff2 vabsdiff4 vadd4 vsub4 vmin4 vmax4 vavrg4": "u32 s32",
    "cvta mapa getctarank": "u32 u64",
    "ldmatrix stmatrix movmatrix": "b16 b8",
}
_KNOWN = {family: frozenset(types.split()) for families, types in _TYPES.items() for family in families.split()}


def wrong_type(parts: tuple[str, ...], types: list[str]) -> str | None:
    """The first of an opcode's `types` that its family does not allow; None if all are allowed or it is not listed."""
    known = _KNOWN.get(parts[0])
    return None if known is None else next((kind for kind in types if kind not in known), None)
