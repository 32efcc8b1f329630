"""The picture of a learner's layout: what it counts, what it draws, and what it says where it cannot."""

import numpy as np
import pytest

from gemm_lab_lessons.ch05.arrangement import PANEL, arrangement
from gemm_look.style import drawn
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware import banks
from tests.tools.test_figures import problems


def xor(row, chunk):
    return chunk ^ row % 8


LAYOUTS = [
    (lambda row, chunk: chunk, 8, (1, 8)),
    (xor, 8, (1, 1)),
    (lambda row, chunk: chunk ^ row % 4, 8, (1, 2)),
    (lambda row, chunk: chunk, 4, (1, 4)),
    (lambda row, chunk: chunk ^ row % 4, 4, (1, 2)),
    (lambda row, chunk: chunk ^ row // 2 % 4, 4, (1, 1)),
    (lambda row, chunk: chunk ^ row // 4 % 2, 2, (1, 1)),
]


@pytest.mark.parametrize(("swizzle", "chunks", "wavefronts"), LAYOUTS)
def test_it_counts_what_the_banks_count(swizzle, chunks, wavefronts):
    made = arrangement(swizzle, rows=16, chunks=chunks)
    assert (made.row_wavefronts, made.column_wavefronts) == wavefronts and not made.lost
    address = 16 * np.array([[row * chunks + swizzle(row, chunk) for chunk in range(chunks)] for row in range(16)])
    columns = [banks.wavefronts(address[first : first + 8, c][None], 16)[0] for first in (0, 8) for c in range(chunks)]
    rows = banks.wavefronts(address.reshape(-1, 8), 16)
    assert (rows.max(), max(columns)) == wavefronts


def test_the_toy_has_four_banks():
    made = arrangement(lambda row, column: (column + row) % 4, rows=4, chunks=4, places=4)
    assert repr(made) == "a row: 1 wavefront, a column: 1 wavefront"
    assert repr(arrangement(lambda row, column: column, 4, 4, 4)) == "a row: 1 wavefront, a column: 4 wavefronts"


def test_a_chunk_that_is_overwritten_is_named():
    made = arrangement(lambda row, chunk: 0 if chunk == 3 and row == 2 else chunk, rows=4, chunks=4)
    assert made.lost == [(2, 0)]
    assert "1 of 16 are overwritten, such as 2·0" in [text.get_text() for text in made._picture().axes[0].texts]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("size", [(16, 8, 8), (8, 4, 8), (4, 4, 4), (1, 1, 8)])
def test_the_picture_reads_well(size):
    made = arrangement(lambda row, chunk: chunk, *size)
    assert problems(made._picture()) == []
    assert made._repr_png_()[0].startswith(b"\x89PNG") and made._repr_html_() is None


def test_the_name_of_a_chunk_fits_its_cell():
    """Also that of row 10, which has a digit more, and that of chunk 0 of row 0, which is bold."""
    picture = arrangement(lambda row, chunk: chunk ^ row % 8, rows=16, chunks=8)._picture()
    ink = picture.canvas.get_renderer()
    names = [text for text in picture.axes[0].texts if "·" in text.get_text() and text.get_text()[0].isdigit()]
    assert len(names) == 2 * 16 * 8
    cell = PANEL / 8 * picture.dpi
    assert max(text.get_window_extent(ink).width for text in names) <= 0.92 * cell


LEAVING = [
    (lambda row, chunk: chunk + row, (8, 8, 8), "28 of 64 leave their row, such as 1·7: place 8"),
    (lambda row, chunk: chunk ^ row, (16, 8, 8), "64 of 128 leave their row, such as 8·0: place 8"),
    (lambda row, chunk: chunk ^ row, (8, 4, 8), "16 of 32 leave their row, such as 4·0: place 4"),
    (lambda row, chunk: chunk - row, (4, 4, 4), "6 of 16 leave their row, such as 1·0: bank -1"),
    (lambda row, chunk: 10**9 + chunk, (16, 8, 8), "128 of 128 leave their row, such as 0·0: place a very large"),
    (lambda row, chunk: 8 if (row, chunk) == (2, 5) else chunk, (8, 8, 8), "1 of 64 leaves its row, such as 2·5"),
]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("swizzle", "size", "says"), LEAVING)
def test_chunks_that_leave_their_row_are_drawn_beside_it(swizzle, size, says):
    made = arrangement(swizzle, *size)
    assert says in repr(made) and f"has the places 0 to {size[1] - 1}" in repr(made)
    assert made._repr_png_()[0].startswith(b"\x89PNG") and made._repr_html_() is None
    page = made._picture()
    words = [text.get_text() for text in page.axes[0].texts]
    assert any(says in text for text in words) and "outside of their row" in words
    assert all(words.count(f"{row}·{chunk}") == 1 for row in range(size[0]) for chunk in range(size[1]))
    assert not any("wavefront" in text for text in words)
    assert problems(page) == []


def test_a_chunk_outside_is_no_overwritten_one():
    made = arrangement(lambda row, chunk: chunk + row)
    assert made.lost == [] and made.outside[1, 7] == 8 and (1, 7) not in made.place


@pytest.mark.parametrize(
    ("swizzle", "says"),
    [
        (lambda row, chunk: ..., "appears here as soon as"),
        (lambda row, chunk: chunk / 1, "(0, 0) returned 0.0"),
        (lambda row, chunk: None, "returned None"),
        (lambda row, chunk: [][row], "raised IndexError"),
        (lambda row: row, "raised TypeError"),
    ],
)
def test_without_places_there_is_a_sentence_and_no_picture(swizzle, says):
    made = arrangement(swizzle)
    assert says in repr(made) and says in made._repr_html_() and made._repr_png_() is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rows": 17}, "rows is a number from 1 to 16, not 17"),
        ({"chunks": 0}, "chunks is a number from 1 to 8, not 0"),
        ({"places": 9}, "places is a number from 1 to 8"),
        ({"rows": "8"}, "rows must be a whole number"),
    ],
)
def test_a_size_that_cannot_be_drawn_is_refused(given, says):
    with pytest.raises(ConfigError, match=says):
        arrangement(xor, **given)
    with pytest.raises(ConfigError, match="draws a function of row and chunk, not 5"):
        arrangement(5)


def test_its_words_are_apart_and_legible():
    for chunks in (4, 8):
        figure = drawn(arrangement(lambda row, chunk: chunk ^ row % 4, rows=8, chunks=chunks)._picture)()
        assert problems(figure) == []
