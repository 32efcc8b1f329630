"""The sizes at which a grade tries an answer beside those of the exercise, which are known to the learner."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from gemm_lab.lab import Kernel
from gemm_lab.lab.on_simulator import smallest_size
from gemm_lab.problem import LONGEST_EDGE

# The range of drawn sizes that are larger than those of the exercise. One of m, n and k is at least twice the
# exercise's largest, or for m and n five block tiles; at most it is so large that these multiply-adds and this edge are
# not exceeded. The factor is drawn on a logarithmic scale.
TWICE, BLOCKS, MOST_PRODUCTS, LONGEST = 2, 5, 2**24, 8192
LARGE_K = 2  # the number of the drawn size with a large k
SMALL_TILE = 128 * 128  # elements of D, up to which a k of more than 2¹⁵ is simulated; else it is more than 2¹⁴
MANY_TILES = 20  # along k, where a kernel takes any size: more than a block has barriers


def drawn_sizes(answer: Kernel, wanted: Mapping[str, Any], seed: int) -> list[tuple[int, int, int]]:
    """Five more sizes (m, n, k), because those of the exercise are known to the learner; none if the seed is 0.

    One is within the exercise's own sizes, and one is at most one block tile. The other three go beyond the exercise's
    sizes, as the comment above says: one with a large k, one with a large m and one with a large n. With the large n,
    m is more than one block tile, and k fills every stage and one of them again: so blocks of several rows and columns
    overwrite what they have read. Otherwise the two other extents are the exercise's smallest.
    """
    if seed == 0:
        return []
    draw, steps = random.Random(seed), [*answer.spec.size_multiples(answer.config).values()]
    most = [max(size[axis] for size in wanted["sizes"]) for axis in range(3)]
    least = [min(size[axis] for size in wanted["sizes"]) for axis in range(3)]

    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
    block = [max(answer.config.get(name, 1), step) for name, step in zip(names, steps, strict=True)]

    def past(axis: int, tiles: int) -> int:
        return steps[axis] * (tiles * block[axis] // steps[axis] + draw.randint(1, block[axis] // steps[axis]))

    def beyond(axis: int, low: int) -> tuple[int, int, int]:
        size = [past(0, 1), past(1, 1), past(2, answer.config.get("NUM_STAGES", 1))] if axis == 1 else list(least)
        high = size[axis] * MOST_PRODUCTS // math.prod(size)
        edge = low * (max(min(high, LONGEST), 2 * low) / low) ** draw.random()
        size[axis] = steps[axis] * max(1, round(edge / steps[axis]))
        return tuple(size)

    within = tuple(step * draw.randint(1, max(1, edge // step)) for step, edge in zip(steps, most, strict=True))
    tiny = tuple(step * draw.randint(1, edge // step) for step, edge in zip(steps, block, strict=True))
    tall, wide = (beyond(axis, max(TWICE * most[axis], BLOCKS * block[axis])) for axis in (0, 1))
    return [within, tiny, beyond(2, TWICE * most[2]), tall, wide]


def long_sizes(answer: Kernel, seed: int) -> list[tuple[int, int, int]]:
    """Sizes (m, n, k) at which a counter of 8 or 16 bits is too short; none if the seed is 0.

    A kernel that takes any size gets as many rows or columns as a GEMM may have here, and then `MANY_TILES` along k.
    The others, whose tiles would make this long, get one tile of D and a long k: more than 2¹⁵, or more than 2¹⁴ if
    the tile is large.
    """
    if seed == 0:
        return []
    draw, steps = random.Random(seed), answer.spec.size_multiples(answer.config)
    if set(steps.values()) == {1}:
        many = MANY_TILES * answer.config.get("BLOCK_K", 1) + 5
        return [(LONGEST_EDGE, 1, 1), (1, LONGEST_EDGE, 1), (1, 1, many)]
    m, n, _ = smallest_size(answer)
    k = 2**15 if m * n <= SMALL_TILE else 2**14
    return [(m, n, (k // steps["k"] + draw.choice((5, 6, 7, 9))) * steps["k"])]
