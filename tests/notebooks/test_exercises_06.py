"""The exercises of notebook 06: plausible wrong answers, each refused with the reason that helps, and other right ones."""

import re

import pytest
from changed_solutions import check

import gemm_lab as lab
from gemm_lab.notebook.exercises import WrongAnswer


def region(kernel, name):
    return lab.kernel(kernel).regions[name]


STORES = region("t4/06", "store")
MMA = "          mma_m16n8k8_f16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);\n"
LOAD = "      load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);            // the fragments of the next step\n"
BARRIER = re.search(r"      if \(k == BLOCK_K - MMA_K\) \{.*?      \}\n", region("t4/08", "multiply"), flags=re.S)[0]
SYNC_LINE = next(line + "\n" for line in BARRIER.split("\n") if "__syncthreads" in line)
EPILOGUE = region("t4/07", "epilogue")
ROWS_READY = next(line for line in EPILOGUE.split("\n") if "the rows are complete" in line)

WRONG = [
    # The copy: past the registers, and in pieces of four bytes
    ("06_prefetch", [("next_a[i] =", "smem_a[chunk_a(row, chunk)] =")], "A hazard"),
    ("06_prefetch", [("next_a[i] = reinterpret_cast<const uint4*>(gmem_a + static_cast<size_t>(row) * K + k_tile)[chunk];",
                      "for (int j = 0; j < 4; j++) reinterpret_cast<uint32_t*>(&next_a[i])[j] = reinterpret_cast<const "
                      "volatile uint32_t*>(gmem_a + static_cast<size_t>(row) * K + k_tile)[chunk * 4 + j];")],
     "loads 36 times from global memory for each k tile; 12 loads of 16 bytes are possible"),
    # The addresses: a step that is missing
    ("06_addresses", [("from_a += BLOCK_K;", "")], "At 256 × 128 × 192: D[0, 0]"),
    # The buffers: only one, and the barrier put back
    ("06_two_buffers", [("stage * STAGE_A + ", ""), ("stage * STAGE_B + ", "")], "there is no barrier between them"),
    ("06_two_buffers", [(STORES, "    __syncthreads();\n" + STORES)], "2 barriers for each k tile; 1 is possible"),
    # The epilogue: no swizzle, on one side only, past shared memory, and a barrier left out
    ("06_epilogue", [("(ni ^ lane / 4)", "ni"), ("(chunk ^ row % 8)", "chunk")],
     "2.40 wavefronts for each ideal one; 1 is possible"),
    ("06_epilogue", [("(ni ^ lane / 4)", "ni")], "elements are wrong"),
    ("06_epilogue", [(EPILOGUE, region("t4/06", "epilogue"))], "16 is possible, 16 bytes for each lane"),
    ("06_epilogue", [(ROWS_READY, "")], "nothing brought the lanes of the warp together"),
    # The pipeline: the set in use, without the barrier, with two, and without running ahead
    ("06_pipeline", [("load(set ^ 1,", "load(set,")], "elements are wrong"),
    ("06_pipeline", [(SYNC_LINE, "")], "The result is right here, by luck. A hazard"),
    ("06_pipeline", [("stage ^= 1;", "stage ^= 1;\n        __syncthreads();")], "2 barriers for each k tile; 1 is possible"),
    ("06_pipeline", [(LOAD, "      load(set, stage, k);\n"), (BARRIER, ""), (MMA, MMA + BARRIER)],
     "only 0 mma stand between one ldmatrix and the mma that waits for it; 8 or more are possible"),
]


@pytest.mark.parametrize("name, changes, says", WRONG, ids=[f"{name}-{k}" for k, (name, *_) in enumerate(WRONG)])
def test_a_wrong_answer_is_refused_with_its_reason(name, changes, says):
    with pytest.raises(WrongAnswer, match=re.escape(says)):
        check(name, *changes)


def test_too_many_instructions_are_refused():
    text = region("t4/04", "fetch")
    with pytest.raises(WrongAnswer, match=r"main loop has \d+ instructions on sm_75; 420 or fewer are possible"):
        check("06_addresses", text=text)


def test_ldmatrix_behind_the_mma_of_its_step_is_accepted():
    assert "solved" in repr(check("06_pipeline", (LOAD, ""), (MMA, MMA + LOAD)))


def test_padding_instead_of_the_xor_is_accepted():
    wide = [("MMA_M * WARP_N / 8); //", "MMA_M * (WARP_N / 8 + 1)); //"),
            ("* (WARP_N / 8) + (ni ^ lane / 4)", "* (WARP_N / 8 + 1) + ni"),
            ("row * (WARP_N / 8) + (chunk ^ row % 8)", "row * (WARP_N / 8 + 1) + chunk")]
    assert "solved" in repr(check("06_epilogue", *wide))
