"""tcgen05: the code for the tensor cores of sm_100 and their memory.

`machine.asynchronous.tensor_cores` and `machine.asynchronous.tensor_memory` execute the instructions.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.memory.bulk import located
from gpu_simulator.codegen.ops.threads.mbarrier import shared_address
from gpu_simulator.codegen.registry import op
from gpu_simulator.faults import MemoryFault
from gpu_simulator.hardware.instruction_descriptor import KINDS
from gpu_simulator.hardware.tensor_memory_layout import MULTICASTS, SHAPES, copied, fragment
from gpu_simulator.machine.lanes import at_lane
from gpu_simulator.ptx.ir import Memory, Register, Vector, items_of
from gpu_simulator.runtime import runtime

_FORMS = (
    "alloc, dealloc, relinquish_alloc_permit; mma and mma.ws (kind::f16, tf32, f8f6f4 with 8-bit types, i8; cta_group "
    "1 and 2; collector hints); cp (every shape and multicast, no decompression); shift; commit (multicast); ld and st "
    "(32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2; pack, unpack); wait::ld, wait::st; fences"
)
_GROUPS = ("cta_group__1", "cta_group__2")


@op("tcgen05", forms=_FORMS)
def tcgen05(e, i, following=None):
    """Instructions of tensor memory. following: the basic block after an instruction that may wait."""
    return _WRITERS.get(i.parts[1], _other)(e, i, following)


def _group(e, i) -> int:
    for number, part in enumerate(_GROUPS, 1):
        if part in i.parts:
            return number
    raise e.unsupported("it names no .cta_group")


def _other(e, i, _):
    raise e.unsupported("")


def _alloc(e, i, following):
    e.allow("alloc", "sync", "aligned", "shared__cta", *_GROUPS)
    address, columns = shared_address(e, i, i.operands[0]), e.read(i.operands[1], "u32")
    return f"return tensor_alloc(resident, lanes, {i.site}, {address}, {columns}, {_group(e, i)}, {following})"


def _dealloc(e, i, following):
    e.allow("dealloc", "sync", "aligned", *_GROUPS)
    address, columns = (e.read(operand, "u32") for operand in i.operands)
    if _group(e, i) == 2:
        return f"return resident.tensor_memory.dealloc_in_pair(lanes, {i.site}, {address}, {columns}, {following})"
    e.line(f"resident.tensor_memory.dealloc(lanes, {i.site}, {address}, {columns}, 1)")


def _relinquish(e, i, following):
    e.allow("relinquish_alloc_permit", "sync", "aligned", *_GROUPS)
    if _group(e, i) == 2:
        return f"return resident.tensor_memory.relinquish_in_pair(lanes, {i.site}, {following})"
    e.line(f"resident.tensor_memory.relinquish(lanes, {i.site})")


def _mma(e, i, _):
    if {"sp", "block_scale", "ashift"} & set(i.parts) or not any(f"kind__{kind}" in i.parts for kind in KINDS):
        raise e.unsupported(
            "sparse, block-scaled and shifted products are not supported; .kind::f16, tf32, f8f6f4 "
            "and i8 without modifiers are"
        )
    kind, ws = next(kind for kind in KINDS if f"kind__{kind}" in i.parts), "ws" in i.parts
    e.allow("mma", "ws", f"kind__{kind}", *_GROUPS, *(p for p in i.parts if p.startswith("collector__")))
    d, a, b, word, *rest = i.operands
    inside = type(a) is Memory
    disable = scale = "None"
    if type(rest[0]) is Vector:
        lanes = rest.pop(0).items
        if len(lanes) != 4 * _group(e, i):
            raise e.unsupported(
                f"{len(lanes)} registers of lanes that keep their values; cta_group::{_group(e, i)} "
                f"takes {4 * _group(e, i)}"
            )
        disable = e.read_all(Vector(lanes), "b32")
    accumulate = e.read(rest[0], "pred")
    if len(rest) > 1:
        scale = e.read(rest[1], "b64" if ws else "u32")
    first = e.address(a) if inside else e.read(a, "b64")
    form = (kind, _group(e, i), ws, inside)
    e.line(
        f"tensor_mma(resident, lanes, {i.site}, {e.mask}, ({e.address(d)}, {first}, {e.read(b, 'b64')}, "
        f"{e.read(word, 'b32')}, {accumulate}), {disable}, {scale}, {form!r})"
    )


def _cp(e, i, _):
    if {"b8x16", "b6x16_p32", "b4x16_p64"} & set(i.parts):
        raise e.unsupported(
            "copies that decompress elements of 4 or 6 bits are not supported; unpack them before the copy"
        )
    multicasts = {one for some in MULTICASTS.values() for one in some}
    e.allow("cp", *_GROUPS, *MULTICASTS, *multicasts)
    shape = next((part for part in i.parts if part in MULTICASTS), None)
    if shape is None:
        raise e.unsupported(f"its shape is none of {', '.join(MULTICASTS)}")
    form = (shape, next((part for part in i.parts if part in multicasts), ""), _group(e, i))
    copied(*form[:2])
    word = e.read(i.operands[1], "b64")
    e.line(f"tensor_copy(resident, lanes, {i.site}, {e.mask}, {e.address(i.operands[0])}, {word}, {form!r})")


def _shift(e, i, _):
    e.allow("shift", "down", *_GROUPS)
    if "down" not in i.parts:
        raise e.unsupported("it has no .down")
    e.line(f"tensor_shift(resident, lanes, {i.site}, {e.mask}, {e.address(i.operands[0])}, {_group(e, i)})")


def _commit(e, i, _):
    e.allow("commit", "mbarrier__arrive__one", "shared__cluster", "multicast__cluster", *_GROUPS)
    mask = e.read(i.operands[1], "u16") if "multicast__cluster" in i.parts else "None"
    address = e.address(i.operands[0])
    e.line(f"tensor_commit(resident, lanes, {i.site}, {e.mask}, {address}, {mask}, {_group(e, i)})")


def _shape(e, i):
    """(shape, repetitions, columns to the second half, whether each register holds two 16-bit values)."""
    repeats = [part for part in i.parts if part[0] == "x" and part[1:].isdigit()]
    e.allow("ld", "st", "sync", "aligned", "pack__16b", "unpack__16b", *SHAPES, *repeats)
    shape = next((part for part in i.parts if part in SHAPES), None)
    if shape is None:
        raise e.unsupported(f"its shape is none of {', '.join(SHAPES)}")
    times = int(repeats[0][1:])
    split = int(i.operands[2 if "ld" in i.parts else 1].text, 0) if shape == "16x32bx2" else 0
    fragment(shape, times, split)
    return shape, times, split, bool({"pack__16b", "unpack__16b"} & set(i.parts))


def _form_of(e, i, operand) -> tuple:
    """As `_shape`, if the operand has as many registers."""
    form = shape, times, *_ = _shape(e, i)
    if len(items_of(operand)) != SHAPES[shape] * times:
        raise e.unsupported(f"{len(items_of(operand))} registers; .{shape}.x{times} takes {SHAPES[shape] * times}")
    return form


def _ld(e, i, _):
    form, t = _form_of(e, i, i.operands[0]), e.temporary()
    e.line(f"{t} = tensor_ld(resident, lanes, {i.site}, {e.address(i.operands[1])}, {form!r})")
    for number, item in enumerate(items_of(i.operands[0])):
        if type(item) is Register:
            e.write(item, f"{t}[{number}]", "b32")


def _st(e, i, _):
    form, values = _form_of(e, i, i.operands[-1]), e.read_all(i.operands[-1], "b32")
    e.line(f"tensor_st(resident, lanes, {i.site}, {e.address(i.operands[0])}, {values}, {form!r})")


def _wait(e, i, _):
    e.allow("wait__ld", "wait__st", "sync", "aligned")
    e.line(f"tensor_wait(resident, lanes, {i.site}, {i.parts[1][-2:]!r})")


def _fence(e, i, _):
    e.allow("fence__before_thread_sync", "fence__after_thread_sync")
    e.tell("tcgen05_fence", i.site, e.mask, "before" in i.parts[1])


_WRITERS = {
    "alloc": _alloc, "dealloc": _dealloc, "relinquish_alloc_permit": _relinquish, "mma": _mma, "cp": _cp,
    "shift": _shift, "commit": _commit,
    "ld": _ld, "st": _st, "wait__ld": _wait, "wait__st": _wait, "fence__before_thread_sync": _fence,
    "fence__after_thread_sync": _fence,
}  # fmt: skip


# ---- Called by generated code ----


@runtime
def tensor_alloc(resident, lanes, site, address, columns, group, following):
    """tcgen05.alloc of each executing warp; returns the next basic block, or -1 if the lanes are parked."""
    places = []
    addresses = resident.tensor_memory.uniform(lanes, site, address, "places for the address")
    for warp, at in zip(resident.tensor_memory.warps(lanes), addresses, strict=True):
        block, offset = located(resident, site, warp * 32, at)
        if offset % 4 or offset + 4 > resident.shared.size:
            raise MemoryFault(
                f"{resident.describe(site)}: {resident.name_lane(warp * 32)} has the address written to shared "
                f"address {offset:,}, but that must be a multiple of 4 within its {resident.shared.size:,} bytes."
            )
        places.append((block * resident.shared_stride + offset) >> 2)
    return resident.tensor_memory.alloc(lanes, site, places, columns, group, following)


@runtime
def tensor_mma(resident, lanes, site, mask, operands, disable, scale, form):
    """Issue one product for each executing lane. operands: D, A, B, instruction descriptor, whether to accumulate.

    disable: registers with a bit for each lane of D that keeps its value, or None.   scale, form: as for
    `TensorCores.multiply`.
    """
    for at, lane in _issuing(resident, lanes, site, mask):
        own = [at_lane(value, at) for value in operands]
        disabled = None
        if disable is not None:
            words = np.array([at_lane(word, at) for word in disable], np.uint32)
            if words.any():
                disabled = (words[:, None] >> np.arange(32, dtype=np.uint32) & np.uint32(1)).astype(bool).reshape(-1)
        extra = 0 if scale is None else at_lane(scale, at)
        if form[2] and extra:
            raise resident.tensor_memory.fault(
                site, lane, "masks columns of B (the last operand of .ws), which is not supported."
            )
        resident.tensor_cores.multiply(site, lane, *own[:4], disabled, bool(own[4]), extra, form)


def _issuing(resident, lanes, site, mask) -> list[tuple[int, int]]:
    """(position, lane) of each lane that issues an operation."""
    executing = list(lanes.one_by_one(mask))
    for observer in resident.observers:
        observer.tcgen05_executed(site, np.array([lane for _, lane in executing], np.int64))
    return executing


@runtime
def tensor_copy(resident, lanes, site, mask, address, word, form):
    """Issue one tcgen05.cp for each executing lane. form: as for `TensorCores.copy`."""
    for at, lane in _issuing(resident, lanes, site, mask):
        resident.tensor_cores.copy(site, lane, at_lane(address, at), at_lane(word, at), form)


@runtime
def tensor_shift(resident, lanes, site, mask, address, group):
    """Issue one tcgen05.shift.down for each executing lane."""
    for at, lane in _issuing(resident, lanes, site, mask):
        resident.tensor_cores.shift(site, lane, at_lane(address, at), group)


@runtime
def tensor_commit(resident, lanes, site, mask, address, blocks, group):
    """Arrive at an mbarrier, in one block or several, when the products issued so far are done.

    address: in shared memory, also if the instruction names no state space (Triton extends a shared address to 64 bits
    with zeros for that form), or generic.
    """
    for at, lane in lanes.one_by_one(mask):
        where = at_lane(address, at)
        window = resident.program.shared_window
        block, offset = located(resident, site, lane, where - window if where >= window else where)
        keys = [(block, offset)]
        if group == 2:
            resident.tensor_memory.pair(site, lane, int(resident.block_of_lane[lane]))
        if blocks is not None:
            bits, first = at_lane(blocks, at), block - block % resident.cluster_size
            if not bits or bits >> resident.cluster_size:
                raise resident.tensor_memory.fault(
                    site,
                    lane,
                    f"reports to the blocks {bits:#x} of a cluster of "
                    f"{resident.cluster_size}: one bit for each rank, and at least one.",
                )
            keys = [(first + rank, offset) for rank in range(resident.cluster_size) if bits >> rank & 1]
        resident.tensor_cores.commit(site, lane, keys)


@runtime
def tensor_ld(resident, lanes, site, address, form):
    """A list of registers, each (lanes.n,) of 32 bits.

    They are ready at once, because instructions that use them wait ("Register dependencies, same thread").
    """
    shape, times, split, packed = form
    cut = fragment(shape, times, split)
    wide = cut.wide * (2 if packed else 1)
    memory, out = resident.tensor_memory, np.empty((len(cut.lanes), lanes.n), np.uint32)
    for n, warp, block, lane, column in memory.quarters(lanes, site, address, shape, wide):
        for observer in resident.observers:
            observer.tcgen05_loaded(site, warp, block, lane, column, shape, wide)
        cells = memory.cells[block]
        if packed:
            low, high = (cells[lane + cut.lanes, column + 2 * cut.columns + more] for more in (0, 1))
            got = low & np.uint32(0xFFFF) | high << np.uint32(16)
        elif shape == "32x32b":
            got = cells[lane : lane + 32, column : column + times].T
        else:
            got = cells[lane + cut.lanes, column + cut.columns]
        out[:, 32 * n : 32 * n + 32] = got
    return list(out)


@runtime
def tensor_st(resident, lanes, site, address, values, form):
    """Store registers of each warp into its quarter of tensor memory."""
    shape, times, split, packed = form
    cut = fragment(shape, times, split)
    wide = cut.wide * (2 if packed else 1)
    memory = resident.tensor_memory
    rows = np.stack([np.broadcast_to(value, lanes.n) for value in values])
    for n, warp, block, lane, column in memory.quarters(lanes, site, address, shape, wide):
        for observer in resident.observers:
            observer.tcgen05_stored(site, warp, block, lane, column, shape, wide)

        def run(cells=memory.cells[block], lane=lane, column=column, now=rows[:, 32 * n : 32 * n + 32]):
            if packed:
                cells[lane + cut.lanes, column + 2 * cut.columns] = now & np.uint32(0xFFFF)
                cells[lane + cut.lanes, column + 2 * cut.columns + 1] = now >> np.uint32(16)
            else:
                cells[lane + cut.lanes, column + cut.columns] = now

        resident.tensor_cores.store(warp, run)


@runtime
def tensor_wait(resident, lanes, site, what):
    """Wait for each warp's loads from or stores to tensor memory. what: "ld" or "st"."""
    if what == "st":
        resident.tensor_cores.wait_stores(resident.tensor_memory.warps(lanes))
    for observer in resident.observers:
        observer.tcgen05_waited(lanes, site, what)
