"""What happens at one step of a product in tiles, in words. `tile_walker.js` says the same."""

from __future__ import annotations

from gemm_lab_lessons.ch02.traffic_ledger import DRAM, SHARED, Step

COUNTERS = ("DRAM", "shared memory", "registers", "multiply-adds")


def span(indices: range) -> str:
    """The indices as in a slice: 0:8, or 0:8:2 for every second one."""
    step = f":{indices.step}" if indices.step != 1 else ""
    return f"{indices.start}:{indices[-1] + 1}{step}"


def says(step: Step) -> str:
    """One sentence about a step, without a full stop."""
    size = len(step.rows) * len(step.cols)
    place = f"{step.matrix}[{span(step.rows)}, {span(step.cols)}]"
    one = f"[{step.rows.start}, {step.cols.start}]"
    if step.kind == "copy":
        if step.level == DRAM:
            return f"{place} is copied from DRAM into shared memory: {_elements(size)}"
        if step.level == SHARED:
            return f"a warp reads {place} out of shared memory: {_elements(size)}"
        return f"a thread loads {place} into its registers: {_elements(size)}"
    if step.kind == "multiply":
        if size == 1:
            a, b = f"A[{step.rows.start}, {step.k}]", f"B[{step.k}, {step.cols.start}]"
            return f"D{one} grows by {a} · {b}"
        return f"{place} grows by column {step.k} of A times row {step.k} of B: {size} multiply-adds"
    return f"D{one} is stored in DRAM" if size == 1 else f"{place} is stored in DRAM: {_elements(size)}"


def _elements(size: int) -> str:
    return "1 element" if size == 1 else f"{size:,} elements"


def ratio(counter: int, products: int) -> str:
    """How much was moved for each multiply-add."""
    return f"{counter / products:.2f} for each multiply-add" if products else "no multiply-add yet"
