"""mma.sp: a product whose A has two stored elements of four (with TF32 one of two), and metadata that place them.

The fragments of A are those of a dense A with half as many columns, which are put together to a row of stored elements.
Each of them is multiplied with the row of B that its metadata name; other rows of B have no influence, not even a NaN
in them. Sums are as for `mma`. PTX ISA, "mma.sp", "Sparse matrix storage".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.fragment_products import (
    accumulators,
    fragment_a,
    fragment_b,
    multiply,
    results,
    stacked,
)
from gpu_simulator.faults import WarpFault
from gpu_simulator.hardware.sparse_metadata import columns, contributing, holders, meaningful, selectors
from gpu_simulator.ptx.ir import Immediate, items_of
from gpu_simulator.ptx.mma_forms import Form, sparse
from gpu_simulator.runtime import runtime


def emit(e, i) -> None:
    """Generate mma.sp and mma.sp::ordered_metadata. Operands: D, A, B, C, metadata, selector."""
    form = sparse(i.parts)
    if form is None:
        raise e.unsupported(
            "this shape, these types or these modifiers; m16n8k16 and m16n8k32 of f16 and bf16, m16n8k8 and m16n8k16 "
            "of tf32, m16n8k32 and m16n8k64 of s8 and u8, and m16n8k64 of e4m3 and e5m2 with f32 are supported"
        )
    if len(i.operands) != 6:
        raise e.unsupported(
            f"it has {len(i.operands)} operands; D, A, B, C, the metadata and a sparsity selector belong there"
        )
    sums = form.m * form.n // (64 if form.accumulator == "f16" else 32)
    stored = form.m * form.k * form.bits // 2048
    counts = {"D": sums, "A": stored, "B": form.k * form.n * form.bits // 1024, "C": sums}
    for (name, wanted), operand in zip(counts.items(), i.operands, strict=False):
        if len(items_of(operand)) != wanted:
            raise e.unsupported(f"it names {len(items_of(operand))} registers where {name} has {wanted}")
    a, b, c = (e.read_all(operand, "b32") for operand in i.operands[1:4])
    t = e.temporary()
    e.line(
        f"{t} = multiply_sparse(resident, lanes, {i.site}, {e.mask}, {a}, {b}, {c}, {e.read(i.operands[4], 'b32')}, "
        f"{_selector(e, i.operands[5], form)}, {tuple(form)!r}, {i.parts[1] != 'sp'})"
    )
    e.write_all(i.operands[0], t, "b32")


def _selector(e, operand, form: Form) -> int:
    """The sparsity selector. Raises `UnsupportedInstruction` for one that the shape does not have."""
    if type(operand) is not Immediate:
        raise e.unsupported("its sparsity selector is no constant")
    selector, count = int(operand.text, 0), selectors(form.bits, form.k)
    if not 0 <= selector < count:
        lanes = contributing(form.bits, form.k)
        whose = {1: "one thread of each four", 2: "two threads of each four", 4: "all threads"}[lanes]
        allowed = " or ".join(map(str, range(count)))
        raise e.unsupported(
            f"its sparsity selector is {selector}, and must be {allowed}, because here the metadata come from {whose}"
        )
    return selector


@runtime
def multiply_sparse(resident, lanes, site, mask, a, b, c, metadata, selector, form, ordered):
    """The registers of A · B + C, each (lanes.n,) uint32. mask: lanes that execute it, or None for all.

    metadata: (lanes.n,) or a scalar.   ordered: for mma.sp::ordered_metadata.
    Raises `WarpFault` for metadata that PTX leaves undefined.
    """
    form = Form(*form)
    words = stacked(lanes, (metadata,)).reshape(-1, 32)
    where, four = columns(words, form.bits, form.k, selector)
    executes = np.ones(lanes.n, bool) if mask is None else mask
    bad = ~np.isin(four, meaningful(form.a, ordered)) & executes.reshape(-1, 32).any(1)[:, None, None]
    if bad.any():
        raise WarpFault(
            _wrong(resident, lanes, site, words, np.argwhere(bad)[0], four[bad][0], selector, form, ordered)
        )
    left, right = fragment_a(lanes, a, 1, form), fragment_b(lanes, b, 1, form)
    chosen = right[np.arange(len(right))[:, None, None], where]  # (warps, 16, k / 2, 8)
    before = accumulators(lanes, c, 1, 1, form)[:, :, None]
    sums = multiply(left[:, :, None], chosen, before, form, resident.sum_rule)
    return results(lanes, sums[:, :, 0], 1, 1, form)


def _wrong(resident, lanes, site, words, place, four, selector, form, ordered) -> str:
    """What is wrong with the metadata of a (warp, row, chunk), in a sentence. four: its four bits."""
    warp, row, number = (int(n) for n in place)
    lane, bit = (int(table[row, number]) for table in holders(form.bits, form.k, selector))
    name = resident.name_lane(int(lanes.lane_numbers()[32 * warp + lane]))
    allowed = ", ".join(f"{value:#06b}" for value in meaningful(form.a, ordered))
    return (
        f"{resident.describe(site)}: {name} gives the metadata {int(words[warp, lane]):#010x}, in which the bits {bit} "
        f"to {bit + 3} are {int(four):#06b} for chunk {number} of row {row} of A. The result is undefined; {allowed} "
        "have a meaning."
    )
