"""Cases of the instructions that exchange data between the lanes of a warp."""

from __future__ import annotations

from collections.abc import Iterator

from tools.opcodes.case import Case

ALL = "0xffffffff"
PREDICATE = "selp.u16 %1, 1, 0, p;"


def cases() -> Iterator[Case]:
    """All cases of this module: shuffles, votes, matches and reductions."""
    for mode in ("up", "down", "bfly", "idx"):
        for width in (32, 8):
            clamp = (32 - width) << 8 | (0 if mode == "up" else 31)
            name = f"shfl.sync.{mode}.b32 width {width}"
            text = f"{{ .reg .pred p; shfl.sync.{mode}.b32 %0|p, %2, %3, {clamp}, {ALL}; {PREDICATE} }}"
            yield Case(name, text, ("b32", "u32:lane"), ("b32", "pred"))
        text = f"shfl.sync.{mode}.b32 %0, %1, 3, {0 if mode == 'up' else 31}, {ALL};"
        yield Case(f"shfl.sync.{mode}.b32 by 3", text, ("b32",), ("b32",))
    for mode in ("all", "any", "uni"):
        text = f"{{ .reg .pred p, q; setp.ne.u16 q, %1, 0; vote.sync.{mode}.pred p, q, {ALL}; selp.u16 %0, 1, 0, p; }}"
        yield Case(f"vote.sync.{mode}.pred", text, ("pred:votes",), ("pred",), lanes=128)
    text = f"{{ .reg .pred q; setp.ne.u16 q, %1, 0; vote.sync.ballot.b32 %0, q, {ALL}; }}"
    yield Case("vote.sync.ballot.b32", text, ("pred:votes",), ("b32",), lanes=128)
    for kind in ("b32", "b64"):
        yield Case(f"match.any.sync.{kind}", f"match.any.sync.{kind} %0, %1, {ALL};", (f"{kind}:few",), ("b32",))
        text = f"{{ .reg .pred p; match.all.sync.{kind} %0|p, %2, {ALL}; {PREDICATE} }}"
        yield Case(f"match.all.sync.{kind}", text, (f"{kind}:same",), ("b32", "pred"))
    for kind, operations in (
        ("u32", ("add", "min", "max")),
        ("s32", ("add", "min", "max")),
        ("b32", ("and", "or", "xor")),
    ):
        for operation in operations:
            name = f"redux.sync.{operation}.{kind}"
            yield Case(name, f"{name} %0, %1, {ALL};", (kind,), (kind,), lanes=96)
    text = f"{{ .reg .pred p; elect.sync %0|p, {ALL}; {PREDICATE} }}"
    yield Case("elect.sync", text, ("b32",), ("b32", "pred"))
    yield Case("activemask.b32", "activemask.b32 %0;", ("b32",), ("b32",))
    name = "movmatrix.sync.aligned.m8n8.trans.b16"
    yield Case(name, f"{name} %0, %1;", ("b32:bytes",), ("b32",))
    yield from _some_lanes()


def _some_lanes() -> Iterator[Case]:
    """Some of the instructions executed by 16 lanes only; the result of the other lanes is 0."""
    for name, text in (
        ("shfl.sync.bfly.b32", "shfl.sync.bfly.b32 %0, %1, 5, 31, 0xffff;"),
        ("match.any.sync.b32", "match.any.sync.b32 %0, %1, 0xffff;"),
        ("redux.sync.add.s32", "redux.sync.add.s32 %0, %1, 0xffff;"),
        ("redux.sync.max.s32", "redux.sync.max.s32 %0, %1, 0xffff;"),
        ("vote.sync.ballot.b32", "{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.ballot.b32 %0, q, 0xffff; }"),
    ):
        body = f'unsigned r = 0; if (lane < 16) asm volatile("{text}" : "=r"(r) : "r"(x0[i])); y0[i] = r;'
        yield Case(f"{name} half a warp", "", ("b32:few",), ("b32",), body=body)
