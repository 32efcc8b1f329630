"""The recorded accesses with which a puzzle compares the learner's layout, and the wavefronts counted on an H200."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gemm_lab.config import data_dir
from gemm_lab_lessons.shared.patterns import walks
from gemm_results.profile import read_rows
from gpu_simulator.hardware import banks

FOLDER = data_dir("results") / "profiles" / "h200"
ROWS = {"x1": 8, "x2": 16, "x4": 32}  # the first lanes of ldmatrix and stmatrix, whose addresses are used
AGREE = "accesses recorded on an H200 that agree"  # the label of this fact on a card
WIDE = ("ld.shared.v4.u32", "st.shared.v4.u32", "ldmatrix.x4", "ldmatrix.x4.trans", "stmatrix.x4")  # 16 bytes per lane


@lru_cache(maxsize=1)
def counted() -> dict[tuple[str, str, str], int]:
    """(instruction, pattern, seed) -> the wavefronts that Nsight Compute counted on an H200 for one warp."""
    rows = read_rows(FOLDER / "patterns.csv")
    return {(row["instruction"], row["pattern"], row["seed"]): int(row["wavefronts"]) for row in rows}


@lru_cache(maxsize=1)
def recorded() -> dict[tuple[str, str], int]:
    """(instruction, pattern) -> wavefronts, of the patterns with seed 0."""
    return {(name, pattern): count for (name, pattern, seed), count in counted().items() if seed == "0"}


def modelled(instruction: str, address: np.ndarray) -> int:
    """The wavefronts of one of `WIDE` by the model of the banks; address: bytes, one for each lane."""
    count = banks.load_wavefronts if instruction.startswith("ld.") else banks.wavefronts
    return int(count(np.asarray(address)[None], 16)[0])


def agreement(place: np.ndarray, layout: str) -> tuple[int, int]:
    """How many recorded accesses to rows in this layout take as many wavefronts as with the learner's places.

    place: (rows, chunks), the place of each chunk in its row; at least 35 rows. layout: "xor", as in the recordings.
    Returns (number that agree, number recorded).
    """
    chunks = place.shape[1]
    agree = of = 0
    for walk, (row, chunk) in walks(chunks).items():
        address = 16 * (row * chunks + place[row, chunk])
        for instruction in WIDE:
            count = recorded().get((instruction, f"{16 * chunks}-byte rows, {layout}, {walk}"))
            of += count is not None
            agree += count == modelled(instruction, address)
    return agree, of
