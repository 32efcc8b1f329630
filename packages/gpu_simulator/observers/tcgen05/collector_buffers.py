"""Finds a tcgen05.mma that takes an operand from a collector buffer which does not hold it.

A tensor core has buffers that keep an operand from one product to the next: one for A, and four for B of .ws.
`.collector::a::fill` keeps A, `::use` and `::lastuse` read it there, and `::lastuse` and `::discard`, which is what a
product without a hint does, give the buffer up. "This requires a previous fill to the collector buffer to be still
valid": PTX ISA, "tcgen05.mma", .collector_usage.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_simulator.observers.happens_before import LANE_BITS


class Held(NamedTuple):
    """What a buffer holds. operand: what tells it from others.   event, site: of the product that filled the buffer."""

    operand: tuple
    event: int
    site: int


class CollectorBuffers:
    """Part of the `Tcgen05Checker`. held: by (first block of a pair, buffer such as "a")."""

    def __init__(self, checker):
        self.detector, self.resident, self.hazards = checker.detector, checker.resident, checker.hazards
        self.held: dict[tuple[int, str], Held] = {}

    def issued(self, product, event: int) -> None:
        """A product is issued. event: its number."""
        parts = self.resident.program.sites[product.site].parts
        hint = next((part for part in parts if part.startswith("collector__")), None)
        if hint is None and not self.held:
            return
        buffer, usage = ("b0" if product.form[2] else "a", "discard") if hint is None else hint.split("__")[1:3]
        key, held = (product.blocks[0], buffer), self.held.get((product.blocks[0], buffer))
        index = product.index_a if buffer == "a" else product.index_b
        what = product.what
        shape = (what.m if buffer == "a" else what.n, what.k, product.form)
        operand = (*shape, product.a if index is None else index.tobytes())
        if usage in ("use", "lastuse"):
            self._check(product, held, operand, index, buffer, usage)
        if usage == "fill":
            self.held[key] = Held(operand, event, product.site)
        elif usage != "use":
            self.held.pop(key, None)

    def _check(self, product, held: Held | None, operand: tuple, index, buffer: str, usage: str) -> None:
        name, resident = buffer[0].upper(), self.resident
        if held is None:
            why = f"that buffer holds no {name}: no product with .collector::{buffer}::fill has filled it, or a later "
            why += "one without ::use has given it up"
        elif held.operand != operand:
            why = f"that buffer holds another {name}, with which {resident.describe(held.site)} has filled it"
        elif index is not None and self._newest(product, index) > held.event:
            why = f"{name} was written again after {resident.describe(held.site)} had filled that buffer"
        else:
            return
        if say := self.hazards.new("missing fill", product.site):
            say(
                f"{resident.describe(product.site)}: {resident.name_lane(product.lane)} takes {name} of this product "
                f"from the collector buffer (.collector::{buffer}::{usage}), but {why}. Its result is undefined."
            )

    def _newest(self, product, index) -> int:
        """The event of the last write to an operand in shared memory."""
        stride, shadow = self.resident.shared_stride >> 4, self.detector.shared
        chunks = np.concatenate([(index + block * stride).reshape(-1) for block in product.blocks])
        return int(shadow.written[shadow.cells(chunks, 16, len(chunks))].max()) >> LANE_BITS
