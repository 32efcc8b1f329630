"""The recordings of shared memory by loads, stores, ldmatrix and cp.async, which Nsight Compute counted.

Those of wmma, whose addresses the compiler chooses, are in `tools/recording/wmma_patterns.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gemm_lab_lessons.shared import copy_patterns, patterns
from gemm_lab_lessons.shared.patterns import Pattern

SCATTERED = {  # number of patterns with seed 1, 2, 3 and 4
    "cp.async.cg.16": (60, 90),
    "cp.async.ca.16": (40, 50, 40, 40),
    "cp.async.ca.8": (16, 24, 32, 24),
    "cp.async.ca.4": (16, 24, 32, 24),
}
DATA = np.zeros(patterns.SOURCE_BYTES + 64, np.uint8)  # shared by all launches, so a pickled plan has it only once


class Recording(NamedTuple):
    """One launch: an instruction, the CUDA source of its kernel, and the pattern of its addresses."""

    instruction: str
    source: str
    seed: int
    pattern: Pattern

    @property
    def key(self) -> tuple[str, str, str]:
        """The columns of patterns.csv that identify it: instruction, pattern, seed."""
        return self.instruction, self.pattern.name, str(self.seed)

    def arguments(self) -> list[np.ndarray]:
        """Arguments of the kernel: offsets, sources, data, out, and lengths if the pattern has them."""
        given = [self.pattern.shared, self.pattern.source, DATA, np.zeros(32, np.uint32)]
        return given if self.pattern.lengths is None else [*given, self.pattern.lengths]


def recordings() -> Iterator[Recording]:
    """All recordings, whether they exist yet or not; `tools.recording` can skip some of them.

    The rule of `.cg` was fixed before the scattered addresses of seeds 1 and 2 were recorded. The rule of `.ca` was
    found with the shortest crossings of seed 4, after the scattered addresses of seeds 1 to 3 were recorded. Recorded
    after it were the scattered addresses of seed 4, those of seed 6, in which some lanes fill with zeros, and the
    crossings of seed 5.
    """
    for instruction, (width, _, _) in patterns.INSTRUCTIONS.items():
        source = patterns.kernel_source(instruction)
        for pattern in patterns.patterns(width):
            yield Recording(instruction, source, 0, pattern)
    for instruction in patterns.COPIES:
        width, source = patterns.INSTRUCTIONS[instruction][0], patterns.kernel_source(instruction)
        for pattern in copy_patterns.tiles(width, instruction == "cp.async.cg.16"):
            yield Recording(instruction, source, 0, pattern)
        for seed, count in enumerate(SCATTERED[instruction], 1):
            for pattern in copy_patterns.scattered(width, seed, count):
                yield Recording(instruction, source, seed, pattern)
        if instruction in ("cp.async.ca.4", "cp.async.ca.16"):
            for pattern in copy_patterns.odd_tiles(width):
                yield Recording(instruction, source, 0, pattern)
    for instruction, (width, _, _) in patterns.PARTIAL.items():
        if width == 16:
            source = patterns.kernel_source(instruction)
            wholes = [] if instruction.endswith(".some") else copy_patterns.whole(width)
            for pattern in (*copy_patterns.parts(width), *wholes):
                yield Recording(instruction, source, 0, pattern)
            for pattern in copy_patterns.scattered_parts(width, 6, 16):
                yield Recording(instruction, source, 6, pattern)
    for pattern in copy_patterns.moves():
        yield Recording("cp.async.cg.16.some", patterns.kernel_source("cp.async.cg.16.some"), 0, pattern)
    for seed in (4, 5):
        for pattern in copy_patterns.crossings(seed):
            yield Recording("cp.async.ca.4.some", patterns.kernel_source("cp.async.ca.4.some"), seed, pattern)
