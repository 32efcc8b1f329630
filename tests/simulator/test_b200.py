"""The ladder b200 on the simulator: exact at every size, clean in both timings, and wrong when its source is."""

import numpy as np
import pytest
from b200_runs import PAIRS, RING, RUNGS, compiled, fails, run

from gemm_lab import catalog

# (M, N, K), multiprocessors: more tiles than these, not a multiple; as many; fewer; one for all; K shorter than the ring.
UNEVEN = [((512, 768, 192), 4), ((256, 768, 64), 6), ((256, 256, 640), 148), ((256, 512, 128), 2)]


@pytest.mark.parametrize("rung", RUNGS)
def test_exact_at_512_in_few_steps(rung):
    """The blocks and warps of a launch go on together: each of the simulator's steps is one for many of them."""
    report, d, exact = run(rung, 512, 512, 512)
    assert np.array_equal(d, exact) and report.steps < 25_000


@pytest.mark.sampled(every=42)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize(("size", "sms"), UNEVEN, ids=str)
def test_any_number_of_tiles_over_any_number_of_multiprocessors(rung, size, sms, timing):
    report, d, exact = run(rung, *size, sms=sms, observers=("hazards",), timing=timing)
    assert np.array_equal(d, exact) and report.hazards == []


@pytest.mark.parametrize("rung", RUNGS)
def test_the_grid_is_persistent(rung):
    spec, pair = catalog.kernel(f"b200/{rung}"), rung in PAIRS
    assert spec.launch_grid(spec.configure(), 4096, 4096, 4096, 148) == (148, 1, 1)
    assert spec.launch_grid(spec.configure(), 512, 512, 64, 148) == (8, 1, 1)
    assert spec.launch_grid(spec.configure(), 4096, 4096, 64, 7) == (6 if pair else 7, 1, 1)


@pytest.mark.long
@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("block_n", [128, 256])
def test_other_tiles_and_rings(rung, block_n):
    made = compiled(rung, BLOCK_N=block_n, NUM_STAGES=2)
    report, d, exact = run(rung, 256, 512, 320, sms=2, made=made, observers=("hazards",), timing="late")
    assert np.array_equal(d, exact) and report.hazards == []


def test_the_staged_rows_of_05_meet_no_bank_twice():
    report, _, _ = run("05_tma_store", 256, 256, 64)
    stores = [s for s in report.sites if s.opcode.startswith("st.shared.v4")]
    assert stores and all(s.wavefronts == s.ideal_wavefronts for s in stores)


def test_rows_of_d_in_whole_sectors_only_from_05_on():
    """04 stores 16 bytes of 32 rows at a time, half a sector each; in 05 no thread stores to global memory."""
    stores = {rung: [s for s in run(rung, 256, 256, 64)[0].sites if s.opcode.startswith("st.global")] for rung in PAIRS}
    assert stores["04_cta_pairs"] and not stores["05_tma_store"]


# ---- Lines of the source turned wrong ----

CHANGES = {
    "no phase flip": ("parity ^= stage == 0;", ""),
    "a phase flip at every stage": ("parity ^= stage == 0;", "parity ^= 1;"),
    "the ring one stage too long": ("stage == stages - 1 ? 0", "stage == stages ? 0"),
    "the parity of done never flips": ("done_parity ^= 1;", ""),
    "the producer waits for fresh buffers": ("int stage = 0, parity = 1;", "int stage = 0, parity = 0;"),
    "fresh accumulators are waited for": ("buffer = 0, buffer_parity = 1;", "buffer = 0, buffer_parity = 0;"),
    "accumulators are not waited for": ("int buffer = 0, buffer_parity = 0;", "int buffer = 0, buffer_parity = 1;"),
    "one arrival more": ("mbarrier_init(full + i * 8, 1)", "mbarrier_init(full + i * 8, 2)"),
    "one warp less empties": ("mbarrier_init(acc_empty + i * 8, 4)", "mbarrier_init(acc_empty + i * 8, 3)"),
    "one warp of the pair less": ("mbarrier_init(acc_empty + i * 8, 8)", "mbarrier_init(acc_empty + i * 8, 7)"),
    "steps of 16 bytes": ("tile_b + k2 * 32 / 16", "tile_b + k2 * 16 / 16"),
    "the tile before is added": ("k_tile > 0 || k2 > 0", "true"),
    "every k tile alone": ("k_tile > 0 || k2 > 0", "k2 > 0"),
    "one accumulator for two": ("multiply(tmem_acc + buffer * BLOCK_N,", "multiply(tmem_acc,"),
    "the bytes of one block": ("2 * STAGE_BYTES);   // the bytes", "STAGE_BYTES);   // the bytes"),
    "the whole of B by both": ("tile.n * BLOCK_N + rank * BLOCK_N / 2, barrier", "tile.n * BLOCK_N, barrier"),
    "both blocks multiply": ("warp == CONSUMER_WARP && rank == 0", "warp == CONSUMER_WARP"),
    "half the rows in the instruction": ("descriptor_bf16(2 * BLOCK_M", "descriptor_bf16(BLOCK_M"),
    "lanes of another quarter": ("(warp * 32 << 16)", "((warp ^ 1) * 32 << 16)"),
    "no swizzle in what is staged": ("(chunk ^ lane % 8)", "chunk"),
    "one buffer for two stores": ("column / STORE_N % 2", "0"),
    "no turn of the buffers": ("tma_store_wait_read<1>()", "tma_store_wait_read<2>()"),
}


@pytest.mark.long
@pytest.mark.parametrize("rung", RUNGS)
def test_a_wrong_line_is_caught(rung):
    source, missed, tried = catalog.kernel(f"b200/{rung}").source, [], 0
    for what, (right, wrong) in CHANGES.items():
        if right in source:
            tried += 1
            if not fails(rung, compiled(rung, source.replace(right, wrong), **RING)):
                missed.append(what)
    assert missed == [] and tried >= 10


def test_every_wrong_line_is_of_some_rung():
    sources = [catalog.kernel(f"b200/{rung}").source for rung in RUNGS]
    assert all(any(right in source for source in sources) for right, _ in CHANGES.values())
