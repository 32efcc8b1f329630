"""mov, cvta, isspacep, and the moves that replace the passing of parameters to inlined functions."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.registry import op
from gpu_simulator.machine.address_space import LOCAL_WINDOW, WINDOW_BYTES
from gpu_simulator.machine.clusters import RANK_BITS, RANK_SHIFT
from gpu_simulator.ptx.ir import Symbol, Vector
from gpu_simulator.runtime import runtime

_WINDOWS = ("shared", "shared__cta", "shared__cluster", "local")


def _window(e, space: str) -> int:
    """The first generic address of a state space."""
    return LOCAL_WINDOW if space == "local" else e.program.shared_window


@op("mov", forms="every type; vectors packed and unpacked; addresses of variables; special registers")
def mov(e, i):
    """Moves."""
    kind = i.parts[-1]
    e.allow()
    source = i.operands[1]
    if kind == "b128" and (type(source) is Vector or type(i.operands[0]) is Vector):
        _halves(e, i.operands[0], source)
        return
    if type(source) is Vector and type(i.operands[0]) is Vector:
        raise e.unsupported()
    if (
        type(source) is Symbol
        and source.variable is not None
        and source.variable.space == "shared"
        and kind[1:] == "32"
    ):
        kind = "u32"
    e.write(i.operands[0], e.read(source, kind), kind)


def _halves(e, destination, source) -> None:
    """Generate a move of {a, b} to 128 bits, or back."""
    if type(source) is Vector:
        low, high = (e.read(item, "b64") for item in source.items)
        e.write(destination, f"of_halves(lanes, {low}, {high})", "b128")
        return
    t = e.temporary()
    e.line(f"{t} = halves({e.read(source, 'b128')})")
    for number, item in enumerate(destination.items):
        if item is not None and getattr(item, "name", "") != "_":
            e.write(item, f"{t}[{number}]", "b64")


@runtime
def of_halves(lanes, low, high):
    """128 bits made of two 64-bit halves."""
    pair = np.stack([np.broadcast_to(low, lanes.n), np.broadcast_to(high, lanes.n)], axis=1)
    return np.ascontiguousarray(pair).view(np.complex128)[:, 0]


@runtime
def halves(value):
    """The 64-bit halves (low, high) of 128 bits."""
    pair = np.atleast_1d(value).view(np.uint64).reshape(-1, 2)
    return (pair[0, 0], pair[0, 1]) if value.ndim == 0 else (pair[:, 0].copy(), pair[:, 1].copy())


@op("cvta", forms="to a generic address or from one; global, shared, local, const, param")
def cvta(e, i):
    """Converts addresses between a state space and generic addressing."""
    e.allow("to", "global", "const", "param", "shared", "shared__cta", "shared__cluster", "local")
    kind = i.parts[-1]
    value = e.read(i.operands[1], kind)
    space = next((p for p in i.parts if p in _WINDOWS), None)
    if space is not None:
        base = e.constant(np.uint64(_window(e, space)))
        value = f"({value} {'-' if 'to' in i.parts else '+'} {base})"
    e.write(i.operands[0], value, kind)


@op("isspacep", forms="global, shared, local, const, param")
def isspacep(e, i):
    """Whether a generic address is in a state space."""
    e.allow("global", "const", "param", "shared", "shared__cta", "shared__cluster", "local")
    a = e.read(i.operands[1], "u64")
    space = i.parts[1]
    if space.startswith("shared") or space == "local":
        base = _window(e, space)
        low, high = (e.constant(np.uint64(v)) for v in (base, base + WINDOW_BYTES))
        inside = f"(({a} >= {low}) & ({a} < {high}))"
        if e.clustered and space in ("shared", "shared__cta"):  # other blocks' memory is in .shared::cluster only
            shift, ranks = e.constant(np.uint64(RANK_SHIFT)), e.constant(np.uint64(RANK_BITS))
            inside = f"({inside} & (((({a} - {low}) >> {shift}) & {ranks}) == lanes.cluster_ctarank))"
        e.write(i.operands[0], inside, "pred")
    elif space == "global":
        e.write(i.operands[0], f"({a} < {e.constant(np.uint64(LOCAL_WINDOW))})", "pred")
    else:
        e.write(i.operands[0], e.constant(np.bool_(False)), "pred")


@op("param", forms="arguments and results of device functions, as compilers pass them")
def param(e, i):
    """Arguments and results of inlined calls (`st.param`, `ld.param`)."""
    kind = i.parts[-1]
    e.write(i.operands[0], e.read(i.operands[1], kind), kind)
