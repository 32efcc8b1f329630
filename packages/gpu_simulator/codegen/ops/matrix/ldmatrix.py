"""ldmatrix, stmatrix, movmatrix: 8 × 8 matrices of 16-bit elements between shared memory and registers."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.memory.addresses import shared_address
from gpu_simulator.codegen.registry import op
from gpu_simulator.faults import WarpFault
from gpu_simulator.machine.thread_ranges import spans
from gpu_simulator.ptx.ir import items_of
from gpu_simulator.runtime import runtime

_FORMS = ("sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared__cta")


def _matrices(e, i, vector) -> int:
    e.allow(*_FORMS)
    if "b16" not in i.parts or "m8n8" not in i.parts:  # in any order, as ptxas takes them
        raise e.unsupported(
            "only matrices of the shape m8n8 and the type b16 can be, as in "
            f"{i.parts[0]}.sync.aligned.m8n8.x4.trans.shared.b16"
        )
    count, named = next((int(p[1]) for p in i.parts if p in ("x1", "x2", "x4")), 1), len(items_of(vector))
    if count != named:
        raise e.unsupported(f"it names {named} registers for {count} matrices")
    return count


@op("ldmatrix", forms="sync.aligned.m8n8 x1 x2 x4, trans, b16")
def ldmatrix(e, i):
    """Loads matrices from shared memory."""
    count = _matrices(e, i, i.operands[0])
    t = e.temporary()
    e.line(
        f"{t} = load_matrices(resident, lanes, {i.site}, {shared_address(e, i, i.operands[1])}, {count}, "
        f"{'trans' in i.parts})"
    )
    e.write_all(i.operands[0], t, "b32")


@op("stmatrix", forms="sync.aligned.m8n8 x1 x2 x4, trans, b16")
def stmatrix(e, i):
    """Stores matrices to shared memory."""
    _matrices(e, i, i.operands[1])
    address, values = shared_address(e, i, i.operands[0]), e.read_all(i.operands[1], "b32")
    e.line(f"store_matrices(resident, lanes, {i.site}, {address}, {values}, {'trans' in i.parts})")


def _rows(resident, lanes, site, address, count):
    """(index, picked): index of each row in units of 16 bytes, (warps, 8 · count). Counts wavefronts."""
    address = np.broadcast_to(address, lanes.n) if address.ndim == 0 else address
    mask = lanes.mask
    if count < 4:  # only the first 8 · count lanes give addresses of rows
        if resident.program.all_lanes_name_rows:
            resident.shared.check(lanes, site, address, mask, 16)
        naming = resident.naming_lanes(lanes, count)
        mask = naming if mask is None else mask & naming
    found = resident.shared.resolve(lanes, site, address, mask, 16)
    index = found[0] if found is not None else np.zeros(0)
    if index.size != lanes.warps * 8 * count:
        present = lanes.active().reshape(-1, 32)
        at = int(np.argmin(present.all(1)))
        lane = resident.name_lane(int(lanes.lane_numbers()[32 * at + present[at].argmax()]))
        raise WarpFault(
            f"{resident.describe(site)}: {lane} executes it without lanes {spans(np.flatnonzero(~present[at]))} of its "
            "warp, which have ended or are elsewhere. All lanes of a warp have to execute this instruction together; "
            "what happens otherwise is undefined."
        )
    return index.reshape(lanes.warps, 8 * count), found[1]


@runtime
def load_matrices(resident, lanes, site, address, count, transposed):
    """ldmatrix: a list of `count` registers, each (lanes.n,) of 32 bits."""
    index, picked = _rows(resident, lanes, site, address, count)
    for observer in resident.observers:
        observer.read(lanes, site, resident.shared, index.reshape(-1), picked, 16)
    rows = resident.shared.views[16].take(index.reshape(-1))
    if transposed:
        tiles = rows.view(np.uint16).reshape(lanes.warps, count, 8, 8)
        out = np.ascontiguousarray(tiles.transpose(1, 0, 3, 2)).view(np.uint32)
    else:
        out = np.ascontiguousarray(rows.view(np.uint32).reshape(lanes.warps, count, 32).swapaxes(0, 1))
    return list(out.reshape(count, lanes.n))


@runtime
def store_matrices(resident, lanes, site, address, values, transposed):
    """stmatrix: write each warp's 8 × 8 matrices, row by row, to the addresses that its lanes give."""
    count = len(values)
    index, picked = _rows(resident, lanes, site, address, count)
    for observer in resident.observers:
        observer.write(lanes, site, resident.shared, index.reshape(-1), picked, 16)
    registers = np.stack([np.broadcast_to(v, lanes.n) for v in values]).reshape(count, lanes.warps, 32)
    tiles = np.ascontiguousarray(registers.swapaxes(0, 1))
    if transposed:
        tiles = np.ascontiguousarray(tiles.view(np.uint16).reshape(lanes.warps, count, 8, 8).swapaxes(2, 3))
    resident.shared.views[16][index.reshape(-1)] = tiles.reshape(lanes.warps * count * 8, -1).view(np.complex128)[:, 0]


@op("movmatrix", forms="sync.aligned.m8n8.trans.b16")
def movmatrix(e, i):
    """Transposes an 8 × 8 matrix across the lanes."""
    e.allow("sync", "aligned", "m8n8", "trans")
    e.write(i.operands[0], f"transposed_matrix(lanes, {e.read(i.operands[1], 'b32')})", "b32")


@runtime
def transposed_matrix(lanes, value):
    """movmatrix: each warp's 8 × 8 matrix of 16-bit elements, transposed between its lanes."""
    tiles = np.ascontiguousarray(np.broadcast_to(value, lanes.n)).view(np.uint16).reshape(lanes.warps, 8, 8)
    return np.ascontiguousarray(tiles.swapaxes(1, 2)).view(np.uint32).reshape(-1)
