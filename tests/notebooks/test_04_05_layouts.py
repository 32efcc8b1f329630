"""What notebook 05 says in prose about padding and swizzles, held against the models and the recordings."""

import re
from math import gcd

import nbformat
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.cards import theme
from gemm_lab.config import data_dir
from gemm_lab.notebook.kernel_counts import KernelCount, KernelCounts, kernel_counts
from gpu_simulator.hardware import banks
from gpu_simulator.hardware.swizzle import TMA_SWIZZLES, Swizzle, row_swizzle
from tools.figures import copy_moves, padding

LANES, CHUNKS = np.arange(32), np.arange(8)


def degree(**tile):
    found, ideal = lab.swizzle(rows=128, row_bytes=128, **tile).whole_tile
    return found / ideal


# ---- 05: padding ----


def test_the_list_of_pad_8():
    assert (80 * CHUNKS // 4 % 32).tolist() == [0, 20, 8, 28, 16, 4, 24, 12]
    assert [4 * padding.place(row, 0, 1)[1] for row in range(8)] == list(range(0, 32, 4))


def test_no_padding_cures_both():
    for pad in range(16, 272, 16):
        read = degree(layout="padded", pad_bytes=pad, access="ldmatrix.x4")
        copy = degree(layout="padded", pad_bytes=pad, access="cp.async")
        assert read == gcd(8 + pad // 16, 8) and (pad // 16 % 2 == 0 or copy == 2.625) and max(read, copy) > 1


def test_rows_of_the_padded_tile():
    rows = [banks.cp_async_cg_wavefronts(4096 * r + 16 * CHUNKS, 144 * r + 16 * CHUNKS) for r in range(8)]
    assert rows == [1, 3, 2, 4, 2, 4, 2, 3] and (sum(rows[:4]), sum(rows[4:])) == (10, 11)
    assert sum(rows) / 2 / 4 == 2.625 == degree(layout="padded", access="cp.async")


def test_padding_costs_a_stage_and_fits_nowhere_on_a_t4():
    room = lab.gpu("rtx5090").smem_per_block
    assert (room // (2 * 128 * 128), room // (2 * 128 * 144)) == (3, 2)
    assert lab.kernel("t4/06").compile("sm_75").smem == lab.gpu("t4").smem_per_block


# ---- 05: swizzles ----


@pytest.mark.parametrize("access", ["ldmatrix.x4", "float4 store", "cp.async"])
def test_the_xor_is_free_in_all_three(access):
    assert degree(layout="xor", access=access) == 1


def test_an_addition_is_worse_for_the_copy_alone():
    row, chunk = np.divmod(LANES, 8)
    copies = [
        banks.cp_async_cg_wavefronts(4096 * row + 16 * chunk, 128 * row + 16 * place)
        for place in (chunk ^ row, (chunk + row) % 8)
    ]
    assert copies == [4, 6]
    reads = [banks.wavefronts((128 * LANES + 16 * place)[None], 16)[0] for place in (3 ^ LANES % 8, (3 + LANES) % 8)]
    assert reads == [4, 4]
    assert [int(copy_moves.waves(places).max()) + 1 for *_, places in copy_moves.CASES] == [2, 3, 2, 1]


def test_the_rule_of_each_row():
    for row_bytes, rule in ((64, lambda row: row // 2 % 4), (128, lambda row: row % 8), (256, lambda row: row % 8)):
        row, chunk = np.divmod(np.arange(16 * row_bytes // 16), row_bytes // 16)
        assert np.array_equal(
            row_swizzle(row_bytes)(16 * (row * row_bytes // 16 + chunk)), row * row_bytes + 16 * (chunk ^ rule(row))
        )
    assert lab.swizzle(rows=64, row_bytes=64, layout="swizzle", bits=2, base=4, shift=2).wavefronts == 8


def test_rows_of_twelve_chunks_have_an_xor_of_chunk_numbers():
    row, chunk = np.divmod(np.arange(128 * 12), 12)
    place = chunk ^ row // 2 % 4
    assert place.max() == 11 and len(np.unique(row * 12 + place)) == 128 * 12
    address = 16 * (row * 12 + place).reshape(128, 12)
    assert all(
        banks.wavefronts(address[first : first + 8, c][None], 16)[0] == 1
        for first in range(0, 128, 8)
        for c in range(12)
    )


def test_one_xor_a_step_for_every_row():
    for row in range(16):
        at = Swizzle(3)(128 * row + 16 * CHUNKS)
        assert np.array_equal(at, at[0] ^ 16 * CHUNKS)
    assert Swizzle(3)(5 * 128 + 16 * 7) - Swizzle(3)(5 * 128 + 16 * 6) == -16


@pytest.mark.parametrize("mode", [32, 64, 128])
def test_the_pattern_of_a_mode_repeats_after_eight_of_its_rows(mode):
    swizzle, address = TMA_SWIZZLES[mode], np.arange(4096)
    period = 8 * mode
    assert np.array_equal(swizzle(address + period), swizzle(address) + period)
    assert not np.array_equal(swizzle(address + period // 2), swizzle(address) + period // 2)
    assert lab.swizzle(rows=64, row_bytes=mode, layout=f"tma{mode}").wavefronts == 4


# ---- What the stored notebooks answer ----

ANSWERS = {
    "05_padding_and_swizzling": {
        "pad": "“1”",
        "bank": "28",
        "less": "“is refused”",
        "stages": "2 stages",
        "copy": "10 wavefronts",
        "both": "“none”",
        "place": "1",
        "xor": "4 wavefronts",
        "wrong": "2 times",
        "add": "6 wavefronts",
        "step": "-16 bytes",
        "absolute": "4",
        "whole": "1.542 times",
    },
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_prediction_has_its_answer(name):
    found = {}
    for cell in nbformat.read(data_dir("notebooks") / f"{name}.ipynb", as_version=4).cells:
        asked = re.search(r"^(\w+)\.compare\(", cell.source, flags=re.M) if cell.cell_type == "code" else None
        if asked:
            text = cell.outputs[-1]["data"]["text/plain"]
            found[asked[1]] = re.match(r"It is (.*?)\. \(You made no prediction", text)[1]
    measured = {asked: found.pop(asked) for asked in ("faster",) if asked in found}
    assert found == ANSWERS[name] and all(float(text.split()[0]) > 1 for text in measured.values())


@pytest.mark.parametrize("name", ANSWERS)
def test_every_stored_comparison_agrees(name):
    said = re.findall(r"agree on ([\d,]+) of ([\d,]+)", (data_dir("notebooks") / f"{name}.ipynb").read_text())
    assert said and all(agreeing == of for agreeing, of in said)


# ---- Counts of whole kernels ----


def test_the_three_layouts_of_the_ampere_ladder():
    plain, padded, swizzled = kernel_counts("ampere/02", "ampere/03", "ampere/04").rows
    assert padded.degree == pytest.approx((2.625 + 2) / 3, rel=1e-3) and swizzled.degree == 1 < plain.degree
    assert padded.shared_bytes * 8 == plain.shared_bytes * 9 and plain.shared_bytes == swizzled.shared_bytes


def test_a_count_that_differs_is_coloured():
    page = KernelCounts([KernelCount("k", 1, 10, 20, 21)], 512)._repr_html_()
    assert theme.BAD in page and "NVIDIA H200" in page
    assert "not recorded" in repr(KernelCounts([KernelCount("k", 1, 10, 20, None)], 512))
