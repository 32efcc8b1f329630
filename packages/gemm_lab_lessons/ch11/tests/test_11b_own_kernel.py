"""What notebook 11b says in prose, held against the recorded cards, the simulator and the lab."""

import json
import re
from itertools import product

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.lab.export import standalone
from gemm_lab_lessons.ch11.mn_major import multiply
from gemm_lab_lessons.ch11.stones import LAUNCHES, SHAPE, stone
from gemm_lab_lessons.shared.fault_injection import inject_fault
from gpu_simulator.errors import SizeError
from gpu_simulator.hardware.matrix_descriptor import SharedTile, encode_sm90
from tests.notebooks.test_puzzles import functions

M, N, K = SHAPE


def card(name, group, n, on="h200"):
    return lab.kernel(f"hopper/{name}")(GROUP_M=group).profile(n, on=on).card


# ---- The capstone ----


@pytest.mark.parametrize("number", [2, 3, pytest.param(1, marks=pytest.mark.long)])
def test_each_stone_passes_the_check(number):
    found = lab.puzzle("11_own_kernel").check(lambda: stone(number).launch.rewrite(stone(number).text))
    used = {1: "FFMA, without tensor cores", 2: "mma.sync", 3: "wgmma"}
    assert dict(found.facts)["multiplies with"] == used[number]


@pytest.mark.parametrize("columns", [16, 24, 32])
def test_the_third_stone_takes_the_tiles_that_the_notebook_leads_to(columns):
    made = lab.kernel("hopper/02", BLOCK_M=64, BLOCK_N=columns).rewrite(stone(3).text)
    assert lab.puzzle("11_own_kernel").check(lambda: made).facts[0][1].endswith(f"64 × {columns} × 320")


def test_a_ring_as_long_as_k_is_tried_beyond_itself():
    rung = lab.kernel("hopper/03", BLOCK_M=64, BLOCK_N=32, NUM_STAGES=8)
    made = rung.rewrite(rung.source.replace("ptx/wgmma.cuh", "ptx/wgmma_narrow.cuh"))
    assert lab.puzzle("11_own_kernel").check(lambda: made).facts[0][1].endswith("64 × 32 × 1088")


@pytest.mark.parametrize("number", LAUNCHES)
def test_a_stone_shows_its_text_folded_and_names_its_launch(number):
    page = stone(number)._repr_html_()
    assert page.index("<details") < page.index("NUM_THREADS")
    assert f'lab.kernel("{LAUNCHES[number]}", BLOCK_M=64, BLOCK_N=64)' in stone(number).text
    assert max(map(len, stone(number).text.splitlines())) <= 100


@pytest.mark.parametrize("number", LAUNCHES)
def test_an_exported_kernel_has_the_shared_memory_of_its_own_text(number):
    made = stone(number).launch.rewrite(stone(number).text)
    start = re.search(r"gemm<<<grid, NUM_THREADS, (\w+)>>>", standalone(made.spec, made.config, made.source))
    assert start and start[1] == ("SMEM_BYTES" if "SMEM_BYTES" in stone(number).text else "0")


def test_the_rungs_to_06_do_not_take_the_shape_and_07_and_08_do():
    for rung in lab.ladder("hopper"):
        if rung.name < "hopper/07":
            with pytest.raises(SizeError):
                rung.spec.require_size(rung.config, M, N, K)
        else:
            rung.spec.require_size(rung.config, M, N, K)


# ---- Registers, descriptors ----


def test_the_faults_of_the_rules_are_found():
    assert inject_fault("hopper/02", {"wgmma_fence();": ""}).kind == "a hazard"
    touched = {"wgmma_wait_group<0>();": "acc[0][0][0] += 1.0f; wgmma_wait_group<0>();"}
    assert inject_fault("hopper/02", touched).kind == "a wrong result"


def test_a_wrong_leading_offset_is_a_wrong_product_or_an_error():
    right = [encode_sm90(SharedTile(k * 128, 8192, 1024, 128, "mn")) for k in (0, 16, 32, 48)]
    ran, d, wanted = multiply(right)
    assert ran.error is None and not ran.hazards and np.array_equal(d, wanted)
    ran, d, wanted = multiply([word ^ 1 << 16 for word in right])
    assert ran.error is not None or not np.array_equal(d, wanted)
    assert multiply([0] * 4)[1].tolist() != wanted.tolist()


# ---- Recorded ----


def test_the_equation_bounds_what_was_recorded_and_is_near_it_at_8192():
    for group, equation, recorded in ((16, 0.92, 0.90), (1, 0.86, 0.78)):
        asked = 64 * 32 * 384 * 8192 * 2
        assert 1 - card("05_persistent", group, 8192)["dram_read_bytes"] / asked == pytest.approx(recorded, abs=0.01)
        assert equation > recorded


def test_the_three_regimes():
    bound, bands = (card("05_persistent", group, 16384)["cycles"] for group in (1, 16))
    assert 0.18 < 1 - bands / bound < 0.2
    free, same = (card("05_persistent", group, 8192) for group in (1, 16))
    assert free["dram_read_bytes"] > 2 * same["dram_read_bytes"] and free["cycles"] < 1.012 * same["cycles"]
    fewer, more = (card("05_persistent", group, 16384, "h100") for group in (4, 8))
    assert more["l2_hit_pct"] > fewer["l2_hit_pct"] + 20 and abs(more["cycles"] / fewer["cycles"] - 1) < 0.001
    assert 57 < fewer["dram_pct"] < 59


def test_an_epilogue_takes_some_2000_clocks_at_most_by_the_stamps():
    for name, low, high in (("05_persistent", 1400, 3400), ("08_ping_pong", 1500, 2600)):
        events = lab.kernel(f"hopper/{name}").timeline(on="h200").timeline.events
        clocks = [event.end - event.start for event in events if event.kind == "epilogue"]
        assert low < min(clocks) and max(clocks) < high and 2000 < np.median(clocks) < 2100


def idle_in_turns(products, epilogue, ordered):
    """Cycles without products for each tile, of two consumers; ordered: their epilogues take turns as well."""
    free, tensor_cores, stores, begins = [0, 0], 0, 0, []
    for tile in range(400):
        begins.append(max(free[tile % 2], tensor_cores))
        tensor_cores = begins[-1] + products
        stores = (max(tensor_cores, stores) if ordered else tensor_cores) + epilogue
        free[tile % 2] = stores
    return (begins[300] - begins[100]) / 200 - products


def test_two_tiles_share_a_gap_unless_the_epilogues_take_turns_too():
    right = functions(lab.puzzle("11_exposed").folder / "solutions/11_exposed.py")[-1]
    for k_tiles, epilogue in product((1, 2, 4, 8), (2032, 2076, 4096)):
        assert idle_in_turns(k_tiles * 512, epilogue, False) == right(k_tiles, 512, epilogue, True)
        assert idle_in_turns(k_tiles * 512, epilogue, True) == max(0, epilogue - k_tiles * 512)


# ---- The page ----


def test_the_notebook_lists_its_puzzles_and_shows_no_answer():
    book = json.loads((data_dir("notebooks") / "11b_your_own_kernel.ipynb").read_text(encoding="utf-8"))
    texts = ["".join(cell["source"]) for cell in book["cells"]]
    asked = {name for text in texts for name in re.findall(r'@lab\.puzzle\("(\w+)"\)', text)}
    listed = next(text for text in texts if "Puzzles: `" in text).split("Puzzles:")[1]
    assert set(re.findall(r"`(11_\w+)`", listed)) == asked and len(asked) == 11
    for cell in book["cells"]:
        if ".compare(" in "".join(cell["source"]):
            assert cell["outputs"] == []
