"""What notebook 05 says in prose about padding and swizzles, held against the models and the recordings."""

import itertools
import re
from html import unescape
from math import gcd

import nbformat
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab_lessons.ch04.kernel_counts import kernel_counts
from gemm_lab_lessons.ch05.puzzles.layouts import rule_of
from gemm_lab_lessons.shared import recorded
from gpu_simulator.hardware import banks
from gpu_simulator.hardware.swizzle import TMA_SWIZZLES, Swizzle, row_swizzle
from tools.figures import address_bits, padding, padding_toy

LANES, CHUNKS = np.arange(32), np.arange(8)
PATH = data_dir("notebooks") / "05_padding_and_swizzling.ipynb"


def degree(**tile):
    found, ideal = lab.swizzle(rows=128, row_bytes=128, **tile).whole_tile
    return found / ideal


@pytest.fixture(scope="module")
def book():
    return nbformat.read(PATH, as_version=4)


# ---- Padding ----


def test_the_padded_toy():
    assert (
        [padding_toy.wavefronts(pad) for pad in padding_toy.PADS] == [4, 1, 2] == [gcd(4 + pad, 4) for pad in (0, 1, 2)]
    )
    for pad in padding_toy.PADS[1:]:
        toy = lab.swizzle(
            rows=4, row_bytes=16, element="f32", banks=4, layout="padded", pad_bytes=4 * pad, access="column load"
        )
        assert toy.wavefronts == padding_toy.wavefronts(pad)
        assert toy.tile.address(2, 4) // 4 % 4 == padding_toy.bank(2, 1, pad)


def test_the_staircase_of_the_picture():
    assert [4 * padding.place(row, 0, 1)[1] for row in range(8)] == list(range(0, 32, 4))


@pytest.mark.parametrize("row_bytes", [32, 80, 128, 144, 192, 256, 272])
def test_least_padding_makes_an_odd_number_of_chunks(row_bytes):
    pad = lab.puzzle("05_pad").solution()(row_bytes)
    assert banks.wavefronts((row_bytes + pad) * LANES[None], 16)[0] == 4 and (row_bytes + pad) // 16 % 2 == 1


def test_padding_costs_a_stage_and_fits_nowhere_on_a_t4():
    room = lab.gpu("rtx5090").smem_per_block
    assert (room // (2 * 128 * 128), room // (2 * 128 * 144)) == (3, 2)
    assert lab.kernel("t4/06").compile("sm_75").smem == lab.gpu("t4").smem_per_block


# ---- Swizzles ----


def test_so_many_orders_free_the_toy():
    orders = list(itertools.permutations(range(4)))
    free = [
        square
        for square in itertools.product(orders, repeat=4)
        if all(len(set(c)) == 4 for c in zip(*square, strict=True))
    ]
    assert len(free) == 576


@pytest.mark.parametrize("access", ["ldmatrix.x4", "float4 store"])
def test_the_xor_is_free_in_both_directions(access):
    assert degree(layout="xor", access=access) == 1


def test_a_rotation_is_as_good_without_a_copy():
    for place in (3 ^ LANES % 8, (3 + LANES) % 8):
        assert banks.wavefronts((128 * LANES + 16 * place)[None], 16)[0] == 4


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


def test_the_address_of_the_picture():
    plain, moved = address_bits.addresses()
    assert (plain, moved) == (1764, 1716) and moved % 128 // 16 == 6 ^ 13 % 8 == 0b011
    assert lab.puzzle("05_address").solution()(plain) == moved


def test_one_xor_a_step_for_every_row():
    for row in range(16):
        at = Swizzle(3)(128 * row + 16 * CHUNKS)
        assert np.array_equal(at, at[0] ^ 16 * CHUNKS)


@pytest.mark.parametrize("mode", [32, 64, 128])
def test_the_pattern_of_a_mode_repeats_after_eight_of_its_rows(mode):
    swizzle, address = TMA_SWIZZLES[mode], np.arange(4096)
    period = 8 * mode
    assert np.array_equal(swizzle(address + period), swizzle(address) + period)
    assert not np.array_equal(swizzle(address + period // 2), swizzle(address) + period // 2)
    assert swizzle == Swizzle({32: 1, 64: 2, 128: 3}[mode], 4, 3)
    assert lab.swizzle(rows=64, row_bytes=mode, layout=f"tma{mode}").wavefronts == 4


# ---- The judges of the puzzles ----


def facts(name, function=None):
    task = lab.puzzle(name)
    return dict(task.check(function or task.solution()).facts)


def test_the_judges_say_how_many_recordings_agree(book):
    assert facts("05_pad")[recorded.AGREE] == "90 of 90"
    assert facts("05_rows_128")[recorded.AGREE] == facts("05_rows_64")[recorded.AGREE] == "20 of 20"
    assert facts("05_any_row")[recorded.AGREE] == "60 of 60"
    text = " ".join(cell.source for cell in book.cells)
    assert "90 recorded reads" in " ".join(text.split()) and "20 recorded accesses" in " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "function", "rule"),
    [
        ("05_toy", lambda row, column: column ^ row, "an XOR"),
        ("05_toy", lambda row, column: (column + row) % 4, "an addition"),
        ("05_toy", lambda r, c: ["0123", "1032", "2310", "3201"][r].index(str(c)), "neither an XOR nor an addition"),
        ("05_rows_128", lambda row, chunk: (chunk + 3 * row) % 8, "an addition"),
        ("05_rows_128", lambda row, chunk: np.int64(chunk) ^ 7 - row % 8, "an XOR"),
        ("05_rows_64", lambda row, chunk: (chunk + row // 2) % 4, "an addition"),
        ("05_any_row", lambda r, c, n: c ^ (r // max(8 // n, 1) & min(n, 8) - 1), "an XOR"),
    ],
)
def test_every_layout_that_is_free_is_accepted_and_its_rule_named(name, function, rule):
    assert facts(name, function)["your rule"] == rule


def test_a_rule_that_moves_nothing():
    assert rule_of(np.tile(CHUNKS, (8, 1))) == "nothing moves"


def test_a_layout_with_conflicts_does_not_agree_with_the_recordings():
    plain = np.tile(CHUNKS, (64, 1))
    agree, of = recorded.agreement(plain, "xor")
    assert 0 < agree < of == 20
    assert recorded.agreement(plain, "plain") == (20, 20)


def test_the_model_of_the_judges_counts_what_was_recorded():
    found = [recorded.recorded()[name, "128-byte rows, plain, column 0"] for name in recorded.WIDE]
    assert [recorded.modelled(name, 128 * LANES) for name in recorded.WIDE] == found


# ---- The stored notebook ----

ANSWERS = {"two": "2 wavefronts", "modulo_four": "2 times", "step": "-16 bytes", "absolute": "4"}


def test_every_prediction_has_its_answer_folded(book):
    found = {}
    for cell in book.cells:
        asked = re.search(r"^(\w+)\.compare\(", cell.source, flags=re.M) if cell.cell_type == "code" else None
        if asked:
            (output,) = cell.outputs
            found[asked[1]] = re.search(r"<details.*It is (.*?)\. ", unescape(output["data"]["text/html"]))[1]
    assert float(found.pop("faster").split()[0]) > 1
    assert found == ANSWERS


def test_every_stored_comparison_agrees():
    said = re.findall(r"agree on ([\d,]+) of ([\d,]+)", PATH.read_text())
    assert said and all(agreeing == of for agreeing, of in said)


def test_the_second_cure_begins_within_twenty_cells_and_asks_for_an_order_by_hand(book):
    second = next(number for number, cell in enumerate(book.cells) if "## Second cure" in cell.source)
    assert second <= 20 and book.cells[second + 1].source == 'lab.swizzle_puzzle("toy")'


def test_the_answers_of_exercises_stay_folded(book):
    """Words that give an exercise away before it: inside a part that unfolds, or not at all."""
    for cell in book.cells:
        if "numbers.check(" in cell.source:
            break
        shown = re.sub(r"<details>.*?</details>", "", cell.source, flags=re.S)
        assert "Swizzle(2, 4, 3)" not in shown and "swizzle_bits.png" not in shown


# ---- Counts of whole kernels ----


@pytest.mark.long
def test_the_three_layouts_of_the_ampere_ladder():
    plain, padded, swizzled = kernel_counts("ampere/02", "ampere/03", "ampere/04").rows
    assert padded.degree == pytest.approx((2.625 + 2) / 3, rel=1e-3) and swizzled.degree == 1 < plain.degree
    assert padded.shared_bytes * 8 == plain.shared_bytes * 9 and plain.shared_bytes == swizzled.shared_bytes
    assert all(row.simulator == row.hardware for row in (plain, padded, swizzled))
