"""The exercises of notebook 09: plausible wrong answers, each refused with the reason that helps, and other right ones."""

import re

import pytest
from changed_solutions import check

from gemm_lab.notebook.exercises import WrongAnswer

TAKES = "row = chunk / 2 % BLOCK_M, k = chunk / 2 / BLOCK_M * 8 + chunk % 2 * 4"
FETCH = "    if (k_tile + NUM_STAGES * STEP_K < K) fetch(stage);"
COMMIT, WAIT = "    cp_async_commit();\n", "    cp_async_wait<NUM_STAGES - 1>();"

WRONG = [
    # The transposing stores: as before; a row for each lane, half a sector each; rows left out
    ("09_transpose", [(TAKES, "row = chunk / 4 % BLOCK_M, k = chunk / 4 / BLOCK_M * 16 + chunk % 4 * 4")],
     "It needs 1.22 wavefronts for each ideal one; 1 is possible."),
    ("09_transpose", [(TAKES, "row = chunk % BLOCK_M, k = chunk / BLOCK_M * 4")],
     "It needs 16.00 sectors a request; 12 is possible."),
    ("09_transpose", [(TAKES, "row = chunk / 2 % 64, k = chunk / 2 / BLOCK_M * 8 + chunk % 2 * 4")],
     "At 128 × 128 × 64: D["),
    # The copies: no wait, one group short, no group, a group only where there is a copy, past the end of K, too early
    ("09_copies_ahead", [(WAIT, "    ")], "it needs commit_group and wait_group before the barrier"),
    ("09_copies_ahead", [("wait<NUM_STAGES - 1>", "wait<NUM_STAGES>")], "while a cp.async may still be writing it"),
    ("09_copies_ahead", [(COMMIT, "")], "it needs commit_group and wait_group before the barrier"),
    ("09_copies_ahead", [(FETCH, FETCH.replace("fetch(stage);", "{ fetch(stage); cp_async_commit(); }")), (COMMIT, "")],
     "A hazard"),
    ("09_copies_ahead", [("if (k_tile + NUM_STAGES * STEP_K < K) fetch(stage);", "fetch(stage);")],
     "At 128 × 128 × 16: block"),
    ("09_copies_ahead", [("convert(stage, tile ^ 1)", "convert(stage, tile)")], "At 128 × 128 × 80: D["),
    ("09_copies_ahead", [(WAIT, WAIT + " __syncthreads();")], "2 barriers for each k tile; 1 is possible"),
    # The swizzle: every row of A, B by pairs of rows, half the rows of B, past the end of A's row, half a chunk
    ("09_swizzle", [("row / 2 % 4", "row % 4")], "wavefronts for each ideal one; 1 is possible."),
    ("09_swizzle", [("k % 8 * 8", "k / 2 % 8 * 8")], "wavefronts for each ideal one; 1 is possible."),
    ("09_swizzle", [("k % 8 * 8", "k % 4 * 8")], "wavefronts for each ideal one; 1 is possible."),
    ("09_swizzle", [("row / 2 % 4", "row / 2 % 8")], "elements are wrong"),
    ("09_swizzle", [("k % 8 * 8", "k % 8 * 4")], "which is not a multiple of 16"),
]


@pytest.mark.parametrize("name, changes, says", WRONG, ids=[f"{name}-{k}" for k, (name, *_) in enumerate(WRONG)])
def test_a_wrong_answer_is_refused_with_its_reason(name, changes, says):
    with pytest.raises(WrongAnswer, match=re.escape(says)):
        check(name, *changes)


def test_another_order_of_the_same_chunks_is_accepted():
    other = "row = chunk / 2 % BLOCK_M, k = chunk / 2 / BLOCK_M * 8 + (1 - chunk % 2) * 4"
    assert "solved" in repr(check("09_transpose", (TAKES, other)))


def test_a_stricter_wait_is_accepted():
    assert "solved" in repr(check("09_copies_ahead", ("NUM_STAGES - 1>", "0>")))


def test_another_xor_is_accepted():
    assert "solved" in repr(check("09_swizzle", ("k % 8 * 8", "(k % 8 ^ 5) * 8")))
