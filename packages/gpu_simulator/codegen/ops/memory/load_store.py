"""ld and st of every width and state space, ldu, prefetch."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.discarded_loads import selection_of
from gpu_simulator.codegen.ops.memory import async_store
from gpu_simulator.codegen.ops.memory.addresses import SPACES, resolve, space_of, split_generic, wide_address
from gpu_simulator.codegen.registry import op
from gpu_simulator.machine.address_space import GLOBAL_BASE
from gpu_simulator.machine.memory import ELEMENT
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.ir import items_of
from gpu_simulator.ptx.types import CODES
from gpu_simulator.runtime import runtime

_QUALIFIERS = (
    "weak", "relaxed", "acquire", "release", "volatile", "gpu", "cta", "sys", "cluster", "nc", "ca", "cg", "cs", "lu",
    "cv", "wb", "wt", "v2", "v4", "v8", "param", "unified", "mmio", "L1__evict_last", "L1__evict_first",
    "L1__no_allocate", "L1__evict_normal", "L1__evict_unchanged", "L2__evict_last", "L2__evict_first",
    "L2__evict_normal", "L2__64B", "L2__128B", "L2__256B", "L2__cache_hint", "b128", "entry", "func", "param__entry",
    "param__func", *SPACES,
)  # fmt: skip


def vector_length(e, i, operand) -> int:
    """How many registers an access moves. Raises `UnsupportedInstruction` unless its .v2, .v4 or .v8 says the same."""
    wanted = next((int(part[1]) for part in i.parts if part in ("v2", "v4", "v8")), 1)
    count = len(items_of(operand))
    if count != wanted or BYTES[i.parts[-1]] * count > 32:
        raise e.unsupported(f"it names {count} registers, but its opcode takes {wanted} of this type")
    return count


@op("ld", "ldu", forms="global shared local const param generic; b8 … b64, f32, f64, f16; v2 v4; all qualifiers")
def ld(e, i):
    """Loads."""
    kind = i.parts[-1]
    e.allow(*_QUALIFIERS)
    memory = i.operands[1]
    destination = i.operands[0]
    count = vector_length(e, i, destination)
    code = CODES[kind]
    raw = f"u{BYTES[kind]}" if kind != "b128" else code
    space = space_of(e, i, memory)
    address = e.address(memory) if space in ("shared", "local") else wide_address(e, memory)
    t = e.temporary()
    used = ""
    if e.observed and (found := selection_of(e.program, e.code, i)) is not None:
        used = f", {'' if found[1] else '~'}{e.read(found[0], 'pred')}"
    e.line(f"{t} = load(resident, lanes, {i.site}, {space!r}, {address}, {e.mask}, {raw}, {count}{used})")
    for number, item in enumerate(items_of(destination)):
        if item is None or getattr(item, "name", "") == "_":
            continue
        value = f"{t}[{number}]" if count > 1 else t
        if code != raw:
            value = f"{value}.view({code})"
        write_extended(e, item, value, kind)


def write_extended(e, destination, value: str, kind: str) -> None:
    """Write a loaded value to a register, which may be wider."""
    e.write(destination, value, kind)


@op(
    "st",
    forms="global shared local param generic; b8 … b64, f32, f64, f16; v2 v4; all qualifiers; async to shared::cluster",
)
def st(e, i):
    """Stores."""
    kind = i.parts[-1]
    if "async" in i.parts:
        e.allow(*async_store.KNOWN)
        async_store.emit(e, i)
        return
    e.allow(*_QUALIFIERS)
    memory, source = i.operands[0], i.operands[1]
    vector_length(e, i, source)
    raw = f"b{8 * BYTES[kind]}"
    values = e.read_all(source, raw if kind not in ("f32", "f64") else kind)
    space = space_of(e, i, memory)
    address = e.address(memory) if space in ("shared", "local") else wide_address(e, memory)
    e.line(f"store(resident, lanes, {i.site}, {space!r}, {address}, {e.mask}, {CODES[raw]}, {values})")


@op("prefetch", "prefetchu", "discard", "applypriority", forms="no effect on results; nothing is counted")
def prefetch(e, i):
    """Cache hints, which change no value."""
    e.line("pass")


def split_param(lanes, address, mask):
    """As `split_generic`, for addresses of parameters."""
    of_kernel = address >= np.uint64(GLOBAL_BASE)
    if of_kernel.all() or not of_kernel.any():
        return [("global" if of_kernel.any() else "local", address, mask)]
    active = np.ones(lanes.n, bool) if mask is None else mask
    tests = (("global", of_kernel), ("local", ~of_kernel))
    return [(space, address, active & test) for space, test in tests if (active & test).any()]


@runtime
def load(resident, lanes, site, space, address, mask, dtype, count, used=None):
    """The values of one load: an array or scalar of unsigned `dtype`, or a tuple of `count` of them for vectors.

    used: Boolean, the lanes that do not discard the value; None if that is not known.
    """
    if space in ("generic", "param"):
        parts = (
            split_generic(resident, lanes, address, mask) if space == "generic" else split_param(lanes, address, mask)
        )
        if len(parts) == 1:
            space, address, mask = parts[0]
        else:
            results = [(m, load(resident, lanes, site, s, a, m, dtype, count, used)) for s, a, m in parts]
            if not results:
                zero = np.zeros(lanes.n, dtype)
                return zero if count == 1 else (zero,) * count
            pick = lambda values: _merged(results, values, lanes, dtype)  # noqa: E731
            return pick(None) if count == 1 else tuple(pick(n) for n in range(count))
    width = np.dtype(dtype).itemsize * count
    if width > 16:
        return _wide_load(resident, lanes, site, space, address, mask, dtype, count)
    found = resolve(resident, lanes, site, space, address, mask, width, "load")
    if found is None:
        zero = np.zeros(lanes.n, dtype)
        return zero if count == 1 else (zero,) * count
    memory, index, picked = found
    for observer in resident.observers if space != "local" else ():
        if used is None or not observer.ignores_discarded:
            observer.read(lanes, site, memory, index, picked, width)
        elif (kept := np.flatnonzero(np.broadcast_to(used, lanes.n)[slice(None) if picked is None else picked])).size:
            which = kept if picked is None else picked[kept]
            observer.read(lanes, site, memory, index[kept] if index.ndim else index, which, width)
    raw = memory.views[width][index]
    if picked is not None and raw.ndim:
        spread = np.zeros(lanes.n, raw.dtype)
        spread[picked] = raw
        raw = spread
    if count == 1:
        return raw
    if raw.ndim == 0:
        return tuple(np.array([raw]).view(dtype))
    return tuple(np.ascontiguousarray(raw.view(dtype).reshape(-1, count).T))


def _merged(results, number, lanes, dtype):
    out = np.zeros(lanes.n, dtype)
    for mask, values in results:
        value = values if number is None else values[number]
        out = np.where(mask, value, out)
    return out


def _wide_load(resident, lanes, site, space, address, mask, dtype, count):
    half, step = count // 2, np.dtype(dtype).itemsize * count // 2
    first = load(resident, lanes, site, space, address, mask, dtype, half)
    return (*first, *load(resident, lanes, site, space, address + address.dtype.type(step), mask, dtype, half))


@runtime
def store(resident, lanes, site, space, address, mask, dtype, values):
    """Write one value, or the items of a vector, of each lane. If lanes write to the same place, the last one wins."""
    if space in ("generic", "param"):
        parts = (
            split_generic(resident, lanes, address, mask) if space == "generic" else split_param(lanes, address, mask)
        )
        for part_space, part_address, part_mask in parts:
            store(resident, lanes, site, part_space, part_address, part_mask, dtype, values)
        return
    count = len(values)
    width = np.dtype(dtype).itemsize * count
    if width > 16:
        half = count // 2
        store(resident, lanes, site, space, address, mask, dtype, values[:half])
        store(resident, lanes, site, space, address + address.dtype.type(width // 2), mask, dtype, values[half:])
        return
    found = resolve(resident, lanes, site, space, address, mask, width)
    if found is None:
        return
    memory, index, picked = found
    if count == 1:
        raw = values[0]
        if raw.dtype != ELEMENT[width]:
            raw = raw.view(ELEMENT[width])
    else:
        rows = np.empty((lanes.n, count), dtype)
        for column, value in enumerate(values):
            rows[:, column] = value if value.dtype == rows.dtype else value.view(rows.dtype)
        raw = rows.view(ELEMENT[width])[:, 0]
    for observer in resident.observers if space != "local" else ():
        observer.write(lanes, site, memory, index, picked, width, raw)
    if raw.ndim:
        if picked is not None:
            raw = raw[picked]
        if index.ndim == 0:  # one address for all lanes: the last lane wins
            active = lanes.active() if mask is None else mask
            raw = raw[-1] if picked is not None or mask is None else raw[np.flatnonzero(active)[-1]]
    memory.views[width][index] = raw
    if space != "global" and memory.written is not None:
        memory.written.reshape(-1, width)[index] = True
