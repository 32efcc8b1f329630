"""The sentences of the zoom: what an event does, and why a level has nothing to show."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from gemm_lab.source_text import plural

LEVELS = ("dram", "block", "warp", "fragment", "bank", "bits")
TITLES = {
    "dram": "DRAM",
    "block": "block tiles",
    "warp": "warp tiles and shared memory",
    "fragment": "mma fragment",
    "bank": "banks",
    "bits": "address bits",
}

# Why a level has nothing to show; for fragments, by the kind of the first mma.
NO_MATRICES = "The arrays of this launch are not the matrices of its ladder, so no element can be placed."
NO_SHARED_MEMORY = "This kernel uses no shared memory, so there are no banks: every operand comes from global memory."
NO_LANES = (
    "No lane of this block reads or writes shared memory: TMA fills it and the tensor cores read it, and neither gives "
    "the addresses of single lanes."
)
NO_FRAGMENT = {
    None: "This kernel has no mma: each lane multiplies its own numbers one by one, and there is no fragment that the "
    "lanes of a warp share.",
    "wmma": "This kernel multiplies with wmma, which does not say which lane holds which element of a fragment.",
    "tcgen05": "This kernel multiplies with tcgen05.mma, which reads shared memory and adds up in tensor memory; no "
    "lane holds a fragment of A or B.",
}


def span(first: int, last: int, one: str, many: str) -> str:
    """A range in words: "row 3", "rows 0 to 15"."""
    return f"{one} {first}" if first == last else f"{many} {first} to {last}"


def shape_of(parts: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """The shape in the name of an mma, such as "m16n8k16", and its extents m, n and k; "" and zeros without one."""
    shape = next((part for part in parts if re.fullmatch(r"m\d+n\d+k\d+", part)), "")
    return shape, tuple(map(int, re.findall(r"\d+", shape))) or (0, 0, 0)


def different_bytes(event) -> int:
    """The bytes of global memory that an event reads or writes. An element that several lanes name counts once."""
    if event.source is not None:
        return len(np.unique(event.source[event.source >= 0])) * event.width
    return 0 if event.outside_bytes is None else 16 * len(event.outside_bytes)


class Speaker:
    """Makes the sentences of one `Scene`. A sentence begins with the warp and has no full stop."""

    def __init__(self, scene):
        self.scene = scene

    def where(self, event) -> str:
        """The part of a matrix that an event's data belong to: "A, rows 0 to 15, columns 8 to 15"; "" if not known."""
        reach = self.scene.reach(event)
        if reach is None:
            return ""
        matrix, (top, bottom, left, right) = reach
        return f"{matrix.name}, {span(top, bottom, 'row', 'rows')}, {span(left, right, 'column', 'columns')}"

    def amount(self, event) -> str:
        """The number of different words of shared memory, or of different bytes for narrower accesses."""
        if event.shared is None:
            return f"{16 * len(event.shared_bytes):,} bytes" if event.shared_bytes is not None else "nothing"
        active = event.shared[event.shared >= 0]
        if event.width < 4:
            return plural(len(np.unique(active // 4)), "word")
        words = active[:, None] // 4 + np.arange(event.width // 4)
        return plural(len(np.unique(words)), "word")

    def waves(self, event) -> str:
        if not event.waves:
            return "no wavefronts are counted"
        more = f" where {event.ideal} would be enough" if event.ideal and event.waves > event.ideal else ""
        return plural(event.waves, "wavefront") + more

    def outside(self, event) -> str:
        """The number of different bytes of global memory that an event reads or writes."""
        asked = different_bytes(event)
        return f"{asked:,} bytes" if asked else "bytes"

    def shared_by_lanes(self, event) -> str:
        """Words behind the place of an access for which several lanes name the same element; else nothing."""
        if event.source is None:
            return ""
        active = event.source[event.source >= 0]
        different = len(np.unique(active))
        if different == len(active):
            return ""
        same = f"the same for {len(active)} lanes" if different == 1 else "some of them for several lanes"
        return f", {same}"

    def says(self, event) -> str:
        warp, where = f"warp {event.warp}", self.where(event)
        if event.what == "mma":
            return self.product(event, warp)
        if event.what == "bulk":
            return self.bulk(event, warp, where)
        if event.what == "copy":
            return (
                f"{warp} copies {self.outside(event)} of {where or 'global memory'} to shared memory with cp.async, "
                f"{plural(event.sectors, 'sector')}, {self.waves(event)}"
            )
        verb = "writes" if event.writes else "reads"
        if event.what == "atomic":
            verb = "updates"
        if event.outside:
            return (
                f"{warp} {verb} {self.outside(event)} of {where or 'global memory'}{self.shared_by_lanes(event)}: "
                f"{plural(event.sectors, 'sector')}"
            )
        reach = self.scene.reach(event) if event.source is not None else None
        owner = f"{reach[0].name}’s tile" if reach and reach[0].name in "AB" else "shared memory"
        how = f" with {event.what}" if event.what in ("ldmatrix", "stmatrix") else ""
        how = " with a wmma load or store" if event.what == "tile" else how
        detail = f" ({where})" if where else ""
        return f"{warp} {verb} {self.amount(event)} of {owner}{how}{detail}, {self.waves(event)}"

    def product(self, event, warp: str) -> str:
        item = self.scene.program.sites[event.site]
        shape, (m, n, k) = shape_of(item.parts)
        corner, name = self.scene.corner(event), f"{item.family} {shape}".strip()
        if corner and shape:
            row, along, _, column = corner
            return (
                f"{warp} multiplies rows {row} to {row + m - 1} of A by columns {column} to {column + n - 1} of B "
                f"for k = {along} to {along + k - 1}: {name}"
            )
        if event.shared_bytes is not None:
            waves = f", {plural(event.waves, 'wavefront')}" if event.waves else ""
            return f"{warp} multiplies: {name} reads {self.amount(event)} of shared memory itself{waves}"
        return f"{warp} multiplies fragments in its registers: {name}"

    def bulk(self, event, warp: str, where: str) -> str:
        if event.outside and event.writes:
            return (
                f"{warp} asks TMA to write {self.outside(event)} of {where or 'global memory'} from shared memory: "
                f"{plural(event.sectors, 'sector')}"
            )
        if event.outside:
            return (
                f"{warp} asks TMA to copy {self.outside(event)} of {where or 'global memory'} to shared memory: "
                f"{plural(event.sectors, 'sector')}; TMA’s own wavefronts are not counted"
            )
        return f"{warp} asks for a copy of {self.amount(event)} within shared memory"

    # ---- What is missing ----

    def why(self, warp: int, chosen: list) -> dict[str, str]:
        """Level -> one sentence about why it is empty, for those that are. chosen: the events of the warp."""
        scene, found = self.scene, {}
        events, kind = scene.log.events, (scene.mma or {}).get("kind")
        lanes = any(event.shared is not None for event in events)
        if not scene.matrices:
            found["dram"] = found["block"] = found["warp"] = NO_MATRICES
        if kind in NO_FRAGMENT:
            found["fragment"] = NO_FRAGMENT[kind]
        if not lanes:
            found["bank"] = NO_LANES if any(event.shared_bytes is not None for event in events) else NO_SHARED_MEMORY
        elif not any(event.shared is not None for event in chosen):
            found["bank"] = (
                f"In the steps of warp {warp} that are shown, no lane reads or writes shared memory; choose another "
                "warp, or all of them."
            )
        if "bank" in found:
            found["bits"] = found["bank"]
        return found
