"""Ratios of rows: of one run only, round by round, and what moved with the idea is said."""

from dataclasses import replace

import pytest

from gemm_results import results
from gemm_results.ablation import RUN, gain, settings
from gemm_results.errors import LabError

ROWS = {
    row.kernel: row
    for row in results.recorded("h200")
    if row.ladder == "t4" and row.n == 4096 and row.regime == "sustained"
}
BEFORE, AFTER = ROWS["t4/02_vectorized_copy"], ROWS["t4/03_swizzled"]


def test_the_ratio_is_taken_round_by_round():
    # The clock halves after two rounds. Every round says 2; the medians of the two rows say something else.
    samples = {BEFORE: [2.0, 2.0, 4.0, 4.0], AFTER: [1.0, 1.0, 2.0, 2.0]}
    found = gain(BEFORE, AFTER, samples)
    assert (found.ratio, found.low, found.high, found.paired, found.clear) == (2.0, 2.0, 2.0, True, True)


def test_quartiles_on_both_sides_of_one_are_no_gain():
    found = gain(BEFORE, AFTER, {BEFORE: [1.0, 1.1, 0.9, 1.0], AFTER: [1.0, 1.0, 1.0, 1.0]})
    assert found.low < 1 < found.high and not found.clear


def test_without_samples_the_quartiles_of_both_rows_bound_the_ratio():
    found = gain(BEFORE, AFTER)
    assert not found.paired and found.low < found.ratio < found.high
    assert found.low == AFTER.tflops_low / BEFORE.tflops_high and found.high == AFTER.tflops_high / BEFORE.tflops_low
    other_rounds = gain(BEFORE, AFTER, {BEFORE: [1.0, 1.0], AFTER: [1.0]})
    assert not other_rounds.paired, "rounds that do not pair are not paired"


@pytest.mark.parametrize("name", RUN)
def test_rows_of_different_runs_are_refused(name):
    value = getattr(AFTER, name)
    other = replace(AFTER, **{name: value + 1 if isinstance(value, (int, float)) else value + "0"})
    with pytest.raises(LabError, match="not measured in one run") as refused:
        gain(BEFORE, other)
    assert RUN[name] in str(refused.value)


def test_the_refusal_says_what_would_work():
    with pytest.raises(LabError, match="tools.recording speeds t4"):
        gain(BEFORE, replace(AFTER, commit="0000000"))
    with pytest.raises(LabError, match=r"bench\(also="):
        gain(replace(BEFORE, ladder="ampere"), AFTER)


def test_settings_that_moved_are_named_and_new_ones_are_the_idea():
    assert gain(BEFORE, AFTER).moved == {}
    moved = gain(BEFORE, ROWS["t4/05_stepped_addresses"]).moved
    assert moved == {"BLOCK_N": (128, 256), "BLOCK_K": (64, 32)}
    staged = replace(AFTER, config=f"{AFTER.config} NUM_STAGES=3")
    assert gain(BEFORE, staged).moved == {} and settings(staged)["NUM_STAGES"] == 3
