"""The exercises of notebook 08: plausible wrong answers, each refused with the reason that helps, and other right ones."""

import re

import nbformat
import pytest
from changed_solutions import check

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.notebook.exercises import WrongAnswer

TILE_B = "    tma_load_2d(smem_b + at, map_b, k_tile, block_n, full + stage * 8);\n"
WAIT_EMPTY = "mbarrier_wait_parity(empty + stage * 8, parity);"
WAIT_FULL = "if (k_tile + BLOCK_K < K) mbarrier_wait_parity(full + stage * 8, parity);"
ARRIVE = "if (lane == 0) mbarrier_arrive(empty + read * 8);"
DEADLOCK = "Deadlock: no thread can go on"

WRONG = [
    # The boxes: one is missing, its bytes not announced, nothing announced; coordinates, stage, map
    ("08_copy", [(TILE_B, "")], "which expects 16,384 bytes more than have been copied"),
    ("08_copy", [("STAGE_BYTES);", "STAGE_A);")], "bytes more than were announced by expect_tx"),
    ("08_copy", [("arrive_expect_tx(full + stage * 8, STAGE_BYTES)", "arrive(full + stage * 8)")], DEADLOCK),
    ("08_copy", [("map_a, k_tile, block_m", "map_a, block_m, k_tile")], "elements are wrong"),
    ("08_copy", [("smem_b + at", "smem_b")], "elements are wrong"),
    ("08_copy", [("smem_b + at, map_b", "smem_b + at, map_a")], DEADLOCK),
    # The producer: no wait, the parity of the consumers, one that never turns, that turns each time, the wrong barrier
    ("08_producer", [(WAIT_EMPTY, "")], DEADLOCK),
    ("08_producer", [("parity = 1;", "parity = 0;")], "which expects 4 more of its 4 arrivals"),
    ("08_producer", [("parity ^= stage == 0;", "")], "With NUM_STAGES = 2: At 128 × 256 × 512: "),
    ("08_producer", [("parity ^= stage == 0;", "parity ^= 1;")], DEADLOCK),
    ("08_producer", [("empty + stage * 8, parity", "full + stage * 8, parity")], "With NUM_STAGES = 2: At 128 × 256 × 512: "),
    # The consumer: no wait, no arrival, of every lane, of the next stage, too early; the wait behind the load
    ("08_consumer", [(WAIT_FULL, "")], "may still be writing it: no thread has waited for the end of phase 0"),
    ("08_consumer", [(ARRIVE, "")], "which expects 4 more of its 4 arrivals"),
    ("08_consumer", [(ARRIVE, ARRIVE.removeprefix("if (lane == 0) "))], "With NUM_STAGES = 2: At 128 × 256 × 512: "),
    ("08_consumer", [("empty + read * 8", "empty + stage * 8")], DEADLOCK),
    ("08_consumer", [("parity ^= stage == 0;", "parity ^= 1;")], DEADLOCK),
    ("08_consumer", [(WAIT_FULL, WAIT_FULL.replace("parity);", "parity ^ 1);"))], "With NUM_STAGES = 2: "),
    ("08_consumer", [("__syncwarp();", "__syncwarp(); named_barrier_sync<2, NUM_CONSUMERS * 32>();")],
     "1 barriers for each k tile; 0 is possible"),
]


@pytest.mark.parametrize("name, changes, says", WRONG, ids=[f"{name}-{k}" for k, (name, *_) in enumerate(WRONG)])
def test_a_wrong_answer_is_refused_with_its_reason(name, changes, says):
    with pytest.raises(WrongAnswer, match=re.escape(says)):
        check(name, *changes)


def test_the_cells_of_the_notebook_are_refused():
    book = nbformat.read(data_dir("notebooks") / "08_rtx_5090.ipynb", as_version=4)
    for name in ("08_copy", "08_producer", "08_consumer"):
        task = lab.exercise(name)
        (cell,) = (c for c in book.cells if c.source.startswith("%%kernel") and "--exercise" in c.source
                   and f"--region {task.criteria['region']} " in c.source)
        text = cell.source.split("\n", 1)[1]
        with pytest.raises(WrongAnswer, match="Deadlock"):
            task.check(lab.kernel(task.criteria["kernel"]).edit(first_line=2, **{task.criteria["region"]: text}))


def test_bytes_announced_one_tile_after_the_other_are_accepted():
    call = "    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES);"
    bytes_of = ('    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(full + stage * 8), '
                '"r"(STAGE_B) : "memory");\n')
    assert "solved" in repr(check("08_copy", (call, bytes_of + call.replace("STAGE_BYTES", "STAGE_A"))))


def test_a_round_counted_by_division_is_accepted():
    by_count = "mbarrier_wait_parity(empty + stage * 8, (k_tile / BLOCK_K / NUM_STAGES + 1) % 2);"
    assert "solved" in repr(check("08_producer", (WAIT_EMPTY, by_count)))


def test_a_release_as_soon_as_the_last_fragments_are_loaded_is_accepted():
    behind = "__syncwarp();"
    before = "if (k == BLOCK_K - MMA_K) {\n        __syncwarp();\n        if (lane == 0) mbarrier_arrive(empty + read * 8);\n"
    assert "solved" in repr(check("08_consumer", (ARRIVE, ""), (behind, ""), ("if (k == BLOCK_K - MMA_K) {\n        stage", before + "        stage")))
