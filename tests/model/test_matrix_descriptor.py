"""Descriptors of operands in shared memory: what TMA stores is what they read, and nonsense is refused with a reason."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from gemm_lab_lessons.ch05.tile_layout import TileLayout
from gpu_simulator.hardware.matrix_descriptor import (
    DescriptorError,
    SharedTile,
    decode_sm90,
    element_addresses,
    encode_sm90,
    inside_pattern,
    problem,
)

WIDTHS = (32, 64, 128)
BUFFER = 0x3000


def stored_by_tma(rows: int, row_bytes: int, swizzle: int) -> np.ndarray:
    """Shared memory in which TMA has put a tile whose byte (row, b) is told by its place; boxes as wide as a row."""
    layout = TileLayout(rows, row_bytes, "u8", f"tma{swizzle}")
    memory = np.full(BUFFER + layout.size_bytes, -1, np.int64)
    row, byte = np.mgrid[:rows, :row_bytes]
    memory[BUFFER + layout.address(row, byte)] = row * 10_000 + byte
    return memory


@pytest.mark.parametrize(("width", "size", "boxes"), list(product(WIDTHS, (1, 2, 4), (1, 2))))
def test_k_major_tiles_of_tma_are_read_back_at_every_step_along_k(width, size, boxes):
    rows, row_bytes = 64, width * boxes
    memory = stored_by_tma(rows, row_bytes, width)
    start = SharedTile(BUFFER, 16, 8 * width, width)
    for k in range(0, row_bytes, 32):  # one instruction reads 32 bytes along K
        tile = replace(start, start=BUFFER + k // width * rows * width + k % width)
        assert not problem(tile, rows, 32 // size, size, len(memory))
        found = memory[element_addresses(tile, rows, 32 // size, size)]
        row, column = np.mgrid[:rows, : 32 // size]
        assert np.array_equal(found, row * 10_000 + k + column * size)


@pytest.mark.parametrize(("width", "boxes"), list(product(WIDTHS, (1, 2, 4))))
def test_mn_major_tiles_of_tma_are_read_back(width, boxes):
    depth, mn = 64, width * boxes // 2  # rows of the box are values of k, its columns run along M or N
    memory = stored_by_tma(depth, width * boxes, width)
    start = SharedTile(BUFFER, depth * width, 8 * width, width, "mn")
    for k in range(0, depth, 16):
        tile = replace(start, start=BUFFER + k * width)
        assert not problem(tile, mn, 16, 2, len(memory))
        found = memory[element_addresses(tile, mn, 16, 2)]
        row, column = np.mgrid[:mn, :16]
        assert np.array_equal(found, (k + column) * 10_000 + row * 2)


@pytest.mark.parametrize(
    ("major", "swizzle", "size"), [*product(("k",), (0, *WIDTHS), (1, 2, 4)), *product(("mn",), (0, *WIDTHS), (2,))]
)
def test_dense_tiles_are_one_to_one(major, swizzle, size):
    rows, columns = 128, 32 // size
    dense = 8 * (swizzle or 16)
    blocks = rows * size // (swizzle or 16) if major == "mn" else rows // 8
    lead, stride = {("k", 0): (blocks * dense, dense), ("mn", 0): (blocks * dense, dense)}.get(
        (major, swizzle), (2 * dense, dense)
    )
    tile = SharedTile(BUFFER, lead, stride, swizzle, major)
    at = element_addresses(tile, rows, columns, size)
    assert at.shape == (rows, columns) and len(np.unique(at)) == at.size and at.min() >= BUFFER
    assert (at % size == 0).all()


def test_the_worked_examples_of_the_isa():
    """Offsets in elements of the canonical layouts that the PTX ISA spells out, before the XOR."""
    plain = element_addresses(SharedTile(0, 64 * 4, 32 * 4, 0, "k"), 16, 8, 4) // 4
    row, k = np.mgrid[:16, :8]  # ((8,2),(4,4)):((4,32),(1,64)), its first 8 columns
    assert np.array_equal(plain, row % 8 * 4 + row // 8 * 32 + k % 4 + k // 4 * 64)
    plain = element_addresses(SharedTile(0, 128 * 2, 64 * 2, 0, "mn"), 16, 16, 2) // 2
    row, k = np.mgrid[:16, :16]  # ((8,1,2),(8,2)):((1,8,64),(8,128))
    assert np.array_equal(plain, row % 8 + row // 8 * 64 + k % 8 * 8 + k // 8 * 128)
    found = element_addresses(SharedTile(0, 128 * 2, 256 * 2, 32, "mn"), 32, 16, 2)
    row, k = np.mgrid[:32, :16]  # Swizzle<1,4,3> o ((8,2,2),(8,2)):((1,8,128),(16,256))
    plain = 2 * (row % 8 + row // 8 % 2 * 8 + row // 16 * 128 + k % 8 * 16 + k // 8 * 256)
    assert np.array_equal(found, plain ^ (plain >> 3 & 16))


def test_a_pattern_that_begins_elsewhere_needs_its_base_offset():
    memory = np.full(8192, -1, np.int64)
    row, byte = np.mgrid[:8, :128]
    memory[384 + row * 128 + (byte ^ row * 16)] = row * 1000 + byte  # the pattern counts from address 384
    tile = SharedTile(384, 0, 1024, 128, base_offset=3)
    assert not problem(tile, 8, 16, 2, 8192)
    row, column = np.mgrid[:8, :16]
    assert np.array_equal(memory[element_addresses(tile, 8, 16, 2)], row * 1000 + column * 2)
    assert "row 3 of the pattern" in inside_pattern(replace(tile, base_offset=0)) and not inside_pattern(tile)


def test_words_of_sm90_come_back():
    rng = np.random.default_rng(1)
    for _ in range(300):
        start, lead, stride = (int(n) * 16 for n in rng.integers(0, 1 << 14, 3))
        tile = SharedTile(
            start, lead, stride, int(rng.choice((0, *WIDTHS))), str(rng.choice(("k", "mn"))), int(rng.integers(8))
        )
        word = encode_sm90(tile)
        assert decode_sm90(word, tile.major) == tile
    # the word that kernels build by hand: 128-byte swizzle, 1,024 bytes between groups of 8 rows
    by_hand = 0x4400 >> 4 | 1 << 16 | 1024 >> 4 << 32 | 1 << 62
    assert decode_sm90(by_hand) == SharedTile(0x4400, 16, 1024, 128)
    assert decode_sm90(by_hand + (32 >> 4)).start == 0x4420


@pytest.mark.parametrize(
    ("tile", "rows", "said"),
    [
        (SharedTile(0x470, 16, 1024, 128), 64, "leave the 128-byte row"),
        (SharedTile(0x410, 4096, 1024, 128, "mn"), 64, "the 128 bytes of M or N that it reads leave"),
        (
            SharedTile(0x400, 16, 64, 128),
            64,
            "the stride byte offset of 64 is less than the 1,024 bytes that 8 rows take",
        ),
        (SharedTile(0x400, 1024, 32, 0, "k"), 64, "divided by 16, once"),
        (SharedTile(0x400, 16, 1024, 0, "mn"), 64, "the leading byte offset of 16 is less"),
        (SharedTile(0x400, 16, 16384, 128), 64, "the block has 49,152 bytes"),
        (SharedTile(0xC000, 16, 1024, 128), 64, "it reads up to shared address 57,3"),
    ],
)
def test_what_cannot_be_read_as_it_is_meant(tile, rows, said):
    assert said in problem(tile, rows, 16, 2, 49152)


def test_a_start_within_the_pattern_matters_to_tcgen05_alone():
    for tile, said in (
        (SharedTile(0x480, 16, 1024, 128), "lies in row 1 of the pattern of the 128-byte swizzle"),
        (SharedTile(0x440, 16, 512, 64), "multiples of 512"),
    ):
        assert said in inside_pattern(tile) and not problem(tile, 64, 16, 2, 49152)


def test_what_no_descriptor_holds():
    for broken, said in (
        (lambda: SharedTile(0, 0, 0, 96), "no 96-byte swizzle"),
        (lambda: SharedTile(0, 0, 0, 128, "m"), '"k"-major or "mn"-major'),
        (lambda: encode_sm90(SharedTile(8, 0, 0)), "start address"),
        (lambda: encode_sm90(SharedTile(0, 0, 1 << 18)), "stride byte offset"),
        (lambda: encode_sm90(SharedTile(0, 0, 0, 128, base_offset=8)), "0 to 7"),
        (lambda: decode_sm90(1 << 46), "tcgen05"),
        (lambda: decode_sm90(0x7FFF << 16), "has bits set"),
        (lambda: element_addresses(SharedTile(0, 0, 0), 8, 4, 2), "no whole chunks"),
    ):
        with pytest.raises(DescriptorError, match=said):
            broken()
