"""The exercises of notebook 07: plausible wrong answers, each refused with the reason that helps, and other right ones."""

import re

import pytest
from changed_solutions import SOLUTIONS, check

import gemm_lab as lab
from gemm_lab.notebook.exercises import WrongAnswer


def whole_lines(name, words):
    """The line of a solution that holds `words`, with its end."""
    text = (SOLUTIONS / f"{name}.cu").read_text()
    return next(line + "\n" for line in text.split("\n") if words in line)


GROUP = whole_lines("07_groups", "cp_async_commit")
WAIT, SYNC = whole_lines("07_pipeline", "cp_async_wait"), whole_lines("07_pipeline", "__syncthreads")
AHEAD = ("      if (k + MMA_K < BLOCK_K || k_tile + BLOCK_K < K)        // the fragments of the next step, if there is one\n"
         "        load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);\n")
MOVE = re.search(r"      if \(k == BLOCK_K - MMA_K\) \{.*?      \}\n", (SOLUTIONS / "07_pipeline.cu").read_text(), flags=re.S)[0]

WRONG = [
    # The copy: never committed, a group for each tile of which only one is copied, a chunk counted in bytes
    ("07_copy", [("    cp_async_commit();", "")], "it needs commit_group and wait_group before the barrier"),
    ("07_copy", [("cp_async_16b(shared_address(&smem_b[chunk_at(row, chunk)]), gmem_b + row * K + chunk * 8);", "")],
     "At 128 × 128 × 128: D[0, 0]"),
    ("07_copy", [("gmem_a + row * K + chunk * 8", "gmem_a + row * K + chunk")], "accessed 16 bytes at global address"),
    # The groups: copies from past K, a group only where there is something to copy, always the same buffer
    ("07_groups", [("if (k_load < K)", "if (true)")], "With NUM_STAGES = 2: At 128 × 128 × 64: block"),
    ("07_groups", [(GROUP, "    if (k_load < K) cp_async_commit();\n")],
     "The result is right here, by luck. A hazard"),
    ("07_groups", [("const uint32_t at = stage * STAGE_BYTES;", "const uint32_t at = 0;")], "With NUM_STAGES = 2: At 128"),
    ("07_groups", [("    k_load += BLOCK_K;\n", "")], "With NUM_STAGES = 2: At 128 × 128 × 64: block"),
    # The hand-over: the wait left out, one group short, behind the barrier; no barrier, two; nothing ahead
    ("07_pipeline", [(WAIT, "")], "it needs commit_group and wait_group before the barrier"),
    ("07_pipeline", [("NUM_STAGES - 2>", "NUM_STAGES - 1>")], "it needs commit_group and wait_group before the barrier"),
    ("07_pipeline", [(WAIT, ""), (SYNC, SYNC + WAIT)], "The result is right here, by luck. A hazard"),
    ("07_pipeline", [(SYNC, "")], "there is no barrier between them"),
    ("07_pipeline", [(SYNC, SYNC + SYNC)], "2 barriers for each k tile; 1 is possible"),
    ("07_pipeline", [("load(set ^ 1,", "load(set,")], "elements are wrong"),
    ("07_pipeline", [(MOVE, ""), (AHEAD, "      load(set, stage, k);\n" + MOVE)],
     "only 0 mma stand between one ldmatrix and the mma that waits for it; 4 or more are possible"),
    # The tails: whole tiles or none, all chunks, half of what the last chunk has
    ("07_tails", [("k_copy + chunk * 8 < K", "k_copy < K")], "accessed 16 bytes at global address"),
    ("07_tails", [("? 16 : 0", "? 16 : 16")], "accessed 16 bytes at global address"),
    ("07_tails", [("k_copy + chunk * 8 < K ? 16", "k_copy + chunk * 8 < K ? 8")], "elements are wrong"),
    ("07_tails", [("  const auto copy", "  const int left = K;\n  const auto copy"), ("chunk * 8 < K", "BLOCK_K <= left")],
     "At 130 × 250 × 40: D[0, "),
]


@pytest.mark.parametrize("name, changes, says", WRONG, ids=[f"{name}-{k}" for k, (name, *_) in enumerate(WRONG)])
def test_a_wrong_answer_is_refused_with_its_reason(name, changes, says):
    with pytest.raises(WrongAnswer, match=re.escape(says)):
        check(name, *changes)


def test_a_copy_through_registers_is_refused():
    with pytest.raises(WrongAnswer, match=r"32 loads into registers and stores out of them \(LDG, STS\) on sm_80"):
        check("07_copy", text=lab.kernel("ampere/01").regions["load"] + "\n    cp_async_commit();")


def test_a_group_of_each_tile_is_accepted():
    half = "    }\n    #pragma unroll\n    for (int i = 0; i < BLOCK_N"
    assert "solved" in repr(check("07_copy", (half, half.replace("    }\n", "    }\n    cp_async_commit();\n", 1))))


def test_a_stricter_wait_is_accepted_by_the_hand_over():
    assert "solved" in repr(check("07_pipeline", ("NUM_STAGES - 2>", "0>")))


def test_bytes_by_arithmetic_are_accepted():
    assert "solved" in repr(check("07_tails", ("k_copy + chunk * 8 < K ? 16 : 0", "max(0, min(16, 2 * (K - k_copy - chunk * 8)))")))
