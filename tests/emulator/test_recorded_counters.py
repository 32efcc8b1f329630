"""Wavefronts of one-instruction kernels against Nsight Compute on an H200 (results/profiles/h200/patterns.csv)."""

import csv

import numpy as np
import pytest

from gemm_lab import compiler, emulator
from gemm_lab.config import data_dir
from gemm_lab.measure.patterns import INSTRUCTIONS, SOURCE_BYTES, kernel_source, patterns

# cp.async is not understood to the end: the share of patterns that must agree, and the largest relative error of the others.
WITHIN = {"cp.async.ca.4": (0.85, 2.5), "cp.async.ca.8": (0.75, 1.5), "cp.async.ca.16": (0.75, 1.0), "cp.async.cg.16": (0.92, 0.2)}


def recorded():
    with open(data_dir("results") / "profiles" / "h200" / "patterns.csv") as file:
        rows = list(csv.DictReader(file))
    return {(r["instruction"], r["pattern"]): r for r in rows if r["seed"] == "0"}


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_wavefronts_equal_the_hardware(instruction):
    rows = recorded()
    made = compiler.compile(kernel_source(instruction), arch="sm_90a", name="pattern.cu")
    wrong, worst, count = [], 0.0, 0
    for pattern in patterns(INSTRUCTIONS[instruction][0]):
        row = rows[instruction, pattern.name]
        totals = emulator.launch(made, grid=1, block=32, args=[pattern.shared.copy(), pattern.source.copy(),
                                                              np.zeros(SOURCE_BYTES, np.uint8), np.zeros(32, np.uint32)]).totals
        count += 1
        truth = int(row["wavefronts"])
        if totals.wavefronts != truth:
            wrong.append((pattern.name, totals.wavefronts, truth))
            worst = max(worst, abs(totals.wavefronts - truth) / truth)
    share, limit = WITHIN.get(instruction, (1.0, 0.0))
    assert len(wrong) <= (1 - share) * count and worst <= limit, wrong
