"""Thousands of mutants of PTX: each ends in a report or in an error of the lab, and changes nothing of the process."""

import builtins
import os
import sys
import threading
import warnings

import numpy as np
import pytest
from attack_scale import count, parts
from ptx_mutants import KERNELS, SMALL, Mutator, launch, sample

from gpu_simulator.errors import LabError

NAMES = [*SMALL, *KERNELS]
# What a launch may take: a fraction of what a whole kernel needs, so that thousands of them fit into a minute.
INSTRUCTIONS, BYTES = 2_000, 300 << 20


def state():
    """What a launch must leave as it is."""
    return (
        os.getcwd(), dict(os.environ), np.geterr(), sys.getrecursionlimit(), threading.active_count(),
        list(warnings.filters), sys.stdout, sys.stderr, sorted(sys.path),
    )  # fmt: skip


def attempt(seed):
    """(the sample, what is wrong); "" where nothing is."""
    chosen = sample(NAMES[seed % len(NAMES)])
    text = Mutator(chosen.ptx, seed).mutant()
    try:
        launch(chosen, text, max_instructions=INSTRUCTIONS, max_bytes=BYTES, observers=("hazards",) if seed % 3 == 0 else (),
               timing=("early", "late")[seed % 2])  # fmt: skip
    except LabError as error:
        said = str(error)
        if not said or len(said) > 5000:
            return chosen, f"a message of {len(said)} characters"
    except Exception as error:
        return chosen, f"{type(error).__name__}: {error}"
    return chosen, ""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("numbers", parts(count(5_000, 500), 50), ids=lambda r: f"{r.start}-{r.stop - 1}")
def test_a_mutant_ends_in_a_report_or_an_error_of_the_lab(numbers):
    for name in NAMES:
        sample(name)
    before, bad, names = state(), [], [(module, dict(vars(module))) for module in (np, builtins)]
    for seed in numbers:
        chosen, wrong = attempt(seed)
        if wrong:
            bad.append(f"seed {seed}, {chosen.name}: {wrong}")
    assert not bad, "\n".join(bad)
    assert state() == before
    for module, known in names:
        assert all(vars(module).get(name) is value for name, value in known.items())


@pytest.mark.parametrize("name", NAMES)
def test_the_samples_run_as_they_are(name):
    """With the small budget they may be cut short, but nothing else stops them."""
    chosen = sample(name)
    try:
        launch(chosen, chosen.ptx, max_instructions=INSTRUCTIONS)
    except LabError as error:
        assert "executed more than 2,000 warp instructions" in str(error)
