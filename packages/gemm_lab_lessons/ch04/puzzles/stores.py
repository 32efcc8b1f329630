"""The puzzles of notebook 04 that lead to its exercise: which lane stores which element of A's tile in simt/04.

The tile has 128 rows and 16 columns. Row k of `smem_a` has 129 floats: the 128 elements of column k and one that is
unused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import Missed, call, spelled
from gpu_simulator.argument_checks import shown
from gpu_simulator.hardware import banks as model

ROWS, COLUMNS, PITCH = 128, 16, 129  # of A's tile; floats in a row of smem_a
WIDE = 4096  # floats in a row of A in global memory
TURNS, WARPS, LANES = 8, 8, 32
Place = tuple[int, int]  # (m, k): row and column in the tile


@register_law(
    "04_store",
    title="Where a thread stores",
    task="Write `stored_at(thread)`: the byte address in `smem_a` at which thread 0 to 255 stores in turn 0.",
    hint="In turn 0, i is the number of the thread. smem_a[k][m] lies k rows of 129 floats and m floats behind the "
    "beginning, and a float has 4 bytes.",
    cases=[(thread,) for thread in range(256)],
    tried="threads tried",
)
def stored_at(thread: int) -> Right:
    m, k = divmod(thread, COLUMNS)
    return 4 * (k * PITCH + m), f"Thread {thread} stores smem_a[{k}][{m}]."


@register(
    "04_place",
    title="A warp without a conflict",
    task="Write `place(lane)`: the pair (m, k) of the element that a lane takes, so that the 32 stores are one "
    "wavefront and the 32 reads touch four sectors.",
    hint="Keep k = lane % 16: each half of the warp then reads 64 bytes side by side. The store goes to bank k + m mod "
    "32, because 129 mod 32 is 1. The first half of the warp covers 16 banks; which m moves the other half to the "
    "other 16?",
)
def place(answer: Callable[[int], Place]) -> Facts:
    """Accepts every choice of 32 elements without a conflict whose reads touch four sectors."""
    taken: dict[Place, int] = {}
    for lane in range(LANES):
        element = _element(answer, (lane,))
        if element in taken:
            raise Missed(f"Lanes {taken[element]} and {lane} both take element {element}; each takes one of its own.")
        taken[element] = lane
    _free_and_whole(list(taken), "The store")
    return [("wavefronts of the store", "1"), ("sectors of the read", "4")]


@register(
    "04_cover",
    title="Every element once",
    task="Write `cover(turn, warp, lane)`: the pair (m, k) of the element that a lane takes in a turn, so that in 8 "
    "turns 8 warps store all 128 × 16 elements once, each store in one wavefront and each read from four sectors.",
    hint="Two rows that lie 16 apart go to one warp in one turn. There are 64 pairs of turn and warp, and 64 such "
    "pairs of rows: number both from 0 to 63. Pair p of rows is in group p // 16 of 32 rows, at place p % 16.",
)
def cover(answer: Callable[[int, int, int], Place]) -> Facts:
    """Accepts every choice that takes each element once, without a conflict, and reads four sectors each time."""
    taken: dict[Place, tuple[int, int, int]] = {}
    for turn in range(TURNS):
        for warp in range(WARPS):
            elements = [_element(answer, (turn, warp, lane)) for lane in range(LANES)]
            for lane, element in enumerate(elements):
                if element in taken:
                    before = ", ".join(map(str, taken[element]))
                    raise Missed(
                        f"Element {element} is taken twice: by cover({before}) and by cover({turn}, {warp}, {lane})."
                    )
                taken[element] = turn, warp, lane
            _free_and_whole(elements, f"The store of warp {warp} in turn {turn}")
    return [
        ("elements stored", f"{len(taken):,} of {ROWS * COLUMNS:,}"),
        ("wavefronts of each store", "1"),
        ("sectors of each read", "4"),
    ]


def _element(answer: Callable[..., Any], args: tuple[int, ...]) -> Place:
    """The pair that the function returns. Raises `Missed` if it is not an element of the tile."""
    value = call(answer, *args)
    said = f"{spelled(answer, args)} returned {shown(value)}"
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise Missed(f"{said}; expected a pair (m, k), such as (0, 3).")
    whole = [int(part) for part in value if isinstance(part, (int, np.integer)) and not isinstance(part, bool)]
    if len(whole) < 2:
        raise Missed(f"{said}; m and k are whole numbers.")
    if not (0 <= whole[0] < ROWS and 0 <= whole[1] < COLUMNS):
        raise Missed(f"{said}; m is between 0 and {ROWS - 1}, and k between 0 and {COLUMNS - 1}.")
    return whole[0], whole[1]


def _free_and_whole(elements: list[Place], where: str) -> None:
    """Raises `Missed` if a warp's stores of these elements collide, or its reads touch more than four sectors.

    where: names the store at the beginning of a sentence.
    """
    m, k = np.array(elements).T
    to, of = 4 * (k * PITCH + m), 4 * (m * WIDE + k)
    count, read = int(model.wavefronts(to[None], 4)[0]), int(model.sectors(of[None], 4)[0])
    if count > 1:
        bank = to // 4 % 32
        first = next(lane for lane in range(LANES) if (bank == bank[lane]).sum() == count)
        other = next(lane for lane in range(LANES) if lane != first and bank[lane] == bank[first])
        raise Missed(
            f"{where} takes {count} wavefronts. Lanes {first} and {other} take {elements[first]} and "
            f"{elements[other]}, both in bank {bank[first]}."
        )
    if read > 4:
        raise Missed(
            f"{where} has no conflict, but the read before it touches {read} sectors. 32 floats are 128 bytes, four "
            "sectors; lanes with neighbouring numbers should read neighbouring columns k."
        )
