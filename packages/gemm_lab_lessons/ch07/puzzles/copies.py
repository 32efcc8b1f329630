"""The puzzle of notebook 07 on cp.async: how many wavefronts a row of a tile takes on its way into shared memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import Missed, call, expect
from gemm_lab_lessons.shared.recorded import AGREE, recorded
from gemm_lab_lessons.shared.recordings import recordings
from gpu_simulator.hardware.banks import cp_async_cg_wavefronts

CHUNK = np.arange(8)
COPY = "cp.async.cg.16"


@register(
    "07_copy_wavefronts",
    title="The wavefronts of a copied row",
    task="Write copy_wavefronts(places): eight lanes copy the chunks 0 to 7 of one line of global memory, and chunk c "
    "goes to place places[c] of shared memory, counted in chunks from the beginning of a line. Return the number of "
    "wavefronts.",
    hint="Two chunks share a wavefront if they land in the same line of shared memory and are the same part of a "
    "sector: a whole sector, the lower half of a torn one, or its upper half. Count the different pairs (line, part), "
    "for example with a set. The other half of chunk c's sector is chunk c ^ 1.",
)
def copy_wavefronts(answer: Callable[[list[int]], int]) -> Facts:
    """Try padded, rotated and XORed rows with the model of the copy, and compare with recorded tiles."""
    cases = {
        f"row {row} of a tile whose rows have {pad} unused chunks": CHUNK + row * (8 + pad) % 8
        for pad in (0, 1, 2, 3, 4)
        for row in range(8)
    }
    cases |= {f"the rotation (chunk + {row}) % 8": (CHUNK + row) % 8 for row in range(8)}
    cases |= {f"the exchange chunk ^ {row}": CHUNK ^ row for row in range(8)}
    cases |= {f"the exchange chunk ^ {row}, in the next line": 8 + (CHUNK ^ row) for row in range(8)}
    for name, places in cases.items():
        expect(answer, (places.tolist(),), cp_async_cg_wavefronts(16 * CHUNK, 16 * places), f"This is {name}.")
    tiles = recorded_tiles()
    agree = sum(sum(call(answer, row) for row in rows) == count for rows, count in tiles)
    if agree < len(tiles):
        raise Missed(f"Your counts agree with only {agree} of {len(tiles)} tiles that were recorded on an H200.")
    return [
        ("rows tried", str(len(cases))),
        (AGREE, f"{agree} of {len(tiles)}"),
    ]


@lru_cache(maxsize=1)
def recorded_tiles() -> list[tuple[list[list[int]], int]]:
    """The recorded copies of four whole lines: the places of each line's chunks, and the wavefronts of the copy.

    Only tiles whose rows have 128 bytes and more. Two shorter rows of one line move by different amounts, and then the
    part of the rule counts that the puzzle leaves out: all sectors of a wavefront move by one rotation or reflection.
    """
    found = []
    for recording in recordings():
        name, pattern = recording.pattern.name, recording.pattern
        length = name.split("-byte rows, ")[0]
        if recording.instruction != COPY or recording.seed or not length.isdigit() or int(length) < 128:
            continue
        source = (pattern.source // 16).astype(int).reshape(4, 8)
        whole = (source % 8 == CHUNK).all() and len(set(source[:, 0])) == 4
        if not whole or (COPY, name) not in recorded():
            continue
        place = (pattern.shared // 16).astype(int).reshape(4, 8)
        rows = [(line - line.min() // 8 * 8).tolist() for line in place]
        found.append((rows, recorded()[COPY, name]))
    return found
