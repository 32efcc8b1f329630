"""Descriptors of tcgen05.mma, and the layouts of tensor memory: laws that every one of them keeps."""

import dataclasses
from itertools import product

import numpy as np
import pytest

from gpu_simulator.hardware.instruction_descriptor import KINDS, InstructionDescriptor, decode, problem
from gpu_simulator.hardware.matrix_descriptor import DescriptorError, SharedTile, element_addresses
from gpu_simulator.hardware.matrix_descriptor_sm100 import decode_sm100, encode_sm100
from gpu_simulator.hardware.tensor_memory_layout import COLUMNS, LANES, QUARTER, SHAPES, fragment, pieces

TILES = [
    SharedTile(start, leading, stride, swizzle, major, base)
    for start, leading, stride, swizzle, major, base in product(
        (0, 0x400, 0x3FFF0), (0, 16, 0x3FFF0), (128, 1024), (0, 32, 64, 128), ("k", "mn"), (0, 5))
]  # fmt: skip


def test_a_tile_is_what_its_descriptor_says():
    for tile in TILES:
        assert decode_sm100(encode_sm100(tile), tile.major) == tile


def test_a_descriptor_of_the_document_of_a_tile_of_128_byte_rows():
    """Start 0x2000, 8 rows of 128 bytes are 1024, 128-byte swizzle: by hand."""
    word = 0x2000 >> 4 | 64 << 32 | 1 << 46 | 2 << 61
    assert encode_sm100(SharedTile(0x2000, 0, 1024, 128)) == word == 0x4000404000000200


@pytest.mark.parametrize(("word", "says"), [
    (2 << 61, "without it this is a descriptor of wgmma"), (3 << 46, "0b011 at bits 46 to 48"),
    (1 << 46 | 1 << 14, "bits set that the format leaves 0"), (1 << 46 | 1 << 53, "bits set that the format leaves 0"),
    (1 << 46 | 1 << 52, "only sm_103a"), (1 << 46 | 1 << 61, "TF32"), (1 << 46 | 7 << 61, "does not exist"),
])  # fmt: skip
def test_words_that_are_no_descriptor(word, says):
    with pytest.raises(DescriptorError, match=says):
        decode_sm100(word)


@pytest.mark.parametrize("tile", [SharedTile(8, 0, 0), SharedTile(1 << 18, 0, 0), SharedTile(0, 0, 0, base_offset=8)])
def test_tiles_that_no_descriptor_can_tell(tile):
    with pytest.raises(DescriptorError):
        encode_sm100(tile)


def test_an_instruction_is_what_its_descriptor_says():
    for kind, known in KINDS.items():
        for a, d, major, negate in product(known.operands.values(), known.results.values(), ("k", "mn"), (False, True)):
            one = InstructionDescriptor(
                128, 64, a, next(iter(known.operands.values())), d, "k", major, negate, False, kind
            )
            assert decode(one.encode(), kind) == one
    assert InstructionDescriptor(128, 256).encode() == 1 << 4 | 1 << 7 | 1 << 10 | 32 << 17 | 8 << 24 == 0x8400490


# What CUTLASS 4.2 makes of the same (cute/atom/mma_traits_sm100.hpp: make_instr_desc, make_umma_desc), printed by its code.
CUTLASS_WORDS = [
    (InstructionDescriptor(128, 256), 0x08400490),
    (InstructionDescriptor(256, 256), 0x10400490),
    (InstructionDescriptor(128, 64, a_major="mn"), 0x08108490),
    (InstructionDescriptor(64, 40, "f16", "f16", "f16", b_major="mn"), 0x040B0000),
    (InstructionDescriptor(128, 24, "tf32", "tf32", kind="tf32"), 0x08060910),
    (InstructionDescriptor(128, 32, "e5m2", "e5m2", kind="f8f6f4"), 0x08080490),
    (InstructionDescriptor(128, 32, "s8", "s8", "s32", kind="i8"), 0x080804A0),
]
# (major, swizzle, columns of K): leading and stride offset in 16 bytes, for tiles of 128 rows in BF16 without gaps.
CUTLASS_TILES = {
    ("k", 128, 64): (1, 64),
    ("k", 64, 32): (1, 32),
    ("k", 32, 16): (1, 16),
    ("k", 0, 16): (128, 8),
    ("mn", 128, 16): (64, 128),
    ("mn", 64, 16): (32, 128),
    ("mn", 32, 16): (16, 128),
    ("mn", 0, 16): (128, 8),
}


@pytest.mark.parametrize(("ours", "word"), CUTLASS_WORDS)
def test_cutlass_encodes_the_same_instructions(ours, word):
    assert ours.encode() == word and decode(word, ours.kind) == ours


@pytest.mark.parametrize("tile", CUTLASS_TILES)
def test_with_the_offsets_of_cutlass_a_tile_has_no_gaps(tile):
    (major, swizzle, columns), (leading, stride) = tile, CUTLASS_TILES[tile]
    found = element_addresses(SharedTile(0, 16 * leading, 16 * stride, swizzle, major), 128, columns, 2)
    assert np.array_equal(np.sort(found, axis=None), np.arange(0, 256 * columns, 2))


@pytest.mark.parametrize(("word", "says"), [
    (1 << 2, "sparse"), (1 << 3, "saturation"), (1 << 6, "reserved"), (1 << 29, "reserved"), (2 << 4, "gives D the type 2"),
    (2 << 7, "gives A the type 2; kind::f16 knows 0 for f16, 1 for bf16"), (5 << 10, "gives B the type 5"),
])  # fmt: skip
def test_words_that_are_no_instruction(word, says):
    with pytest.raises(DescriptorError, match=says):
        decode(word | InstructionDescriptor(128, 64, "f16", "f16", "f16").encode())


@pytest.mark.parametrize(("m", "n", "group", "ws"), [
    (96, 64, 1, False), (256, 64, 1, False), (64, 12, 1, False), (128, 12, 1, False), (128, 264, 1, False),
    (64, 64, 2, False), (256, 8, 2, False), (32, 64, 1, False), (256, 64, 1, True), (32, 32, 1, True), (128, 96, 1, True),
])  # fmt: skip
def test_shapes_that_no_instruction_takes(m, n, group, ws):
    assert problem(dataclasses.replace(InstructionDescriptor(128, 64), m=m, n=n), group, ws)


# PTX ISA, "Matrix Shape" and "Transpose and Negate operations": (kind, type, B lies along, group), N that exist and do not.
STEPS_OF_N = [
    (("f16", "bf16", "k", 1), (8, 24, 40, 248), (4, 12)), (("f16", "bf16", "mn", 1), (8, 40), (4,)),
    (("f16", "bf16", "k", 2), (16, 48, 240), (8, 24, 40)), (("tf32", "tf32", "k", 1), (8, 40), (12,)),
    (("f8f6f4", "e4m3", "k", 1), (8, 24, 40), (12,)), (("f8f6f4", "e4m3", "k", 2), (16, 48), (8, 24)),
    (("f8f6f4", "e4m3", "mn", 1), (16, 48), (8, 24)), (("f8f6f4", "e4m3", "mn", 2), (32, 96), (16, 48)),
    (("i8", "s8", "k", 1), (8, 24, 32, 48, 240), (40, 56, 248)), (("i8", "s8", "k", 2), (32, 96), (16, 48, 240)),
    (("i8", "s8", "mn", 1), (16, 32, 48), (8, 24, 40)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "good", "bad"), STEPS_OF_N)
@pytest.mark.parametrize("half", [False, True])
def test_n_goes_in_steps_of_its_kind_whatever_m(what, good, bad, half):
    kind, type_, major, group = what
    for n in (*good, *bad):
        d = InstructionDescriptor(
            group * (64 if half else 128),
            n,
            type_,
            type_,
            next(iter(KINDS[kind].results.values())),
            b_major=major,
            kind=kind,
        )
        d = dataclasses.replace(d, d="f32") if kind == "f16" else d
        assert (problem(d, group) == "") == (n in good), (n, problem(d, group))
    assert "N is a multiple of" in problem(dataclasses.replace(d, n=bad[0]), group)


def test_a_in_tensor_memory_takes_fewer_n():
    """CUTLASS, SM100_MMA_F16BF16_TS: steps of 16 for M = 128."""
    assert problem(InstructionDescriptor(128, 24)) == problem(InstructionDescriptor(64, 24), inside=True) == ""
    assert "A in tensor memory: N is a multiple of 16" in problem(InstructionDescriptor(128, 24), inside=True)


GOOD = [(64, n, 1, False) for n in (8, 64, 256)] + [(128, n, 1, False) for n in (8, 16, 200, 256)]
GOOD += [(m, n, 2, False) for m in (128, 256) for n in (16, 64, 256)]
GOOD += [(m, n, 1, True) for m in (32, 64, 128) for n in (64, 128, 256)]


@pytest.mark.parametrize(("m", "n", "group", "ws"), GOOD)
def test_d_fills_cells_that_differ(m, n, group, ws):
    assert problem(InstructionDescriptor(m, n), group, ws) == ""
    cells, rows = set(), m // group
    for piece in pieces(m, n, group, ws):
        assert len(piece.lanes) == rows and set(piece.lanes) <= set(range(LANES))
        cells |= {(lane, column) for lane in piece.lanes for column in range(piece.count)}
    assert len(cells) == rows * n  # no two elements share one
    assert sorted(c for p in pieces(m, n, group, ws) for c in range(p.first, p.first + p.count)) == list(range(n))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_fragment_names_each_cell_once(shape):
    for times in (1, 2, 8):
        cut = fragment(shape, times, times if shape == "16x32bx2" else 0)
        places = cut.lanes * COLUMNS + cut.columns
        lanes = QUARTER if shape == "32x32b" else 16
        assert len(np.unique(places)) == places.size == lanes * cut.wide
        assert cut.lanes.shape == (SHAPES[shape] * times, 32) and int(cut.lanes.max()) == lanes - 1


@pytest.mark.parametrize(
    ("shape", "times"), [("32x32b", 3), ("32x32b", 256), ("16x128b", 128), ("16x256b", 64), ("16x64b", 0)]
)
def test_repetitions_that_do_not_exist(shape, times):
    with pytest.raises(ValueError, match="is repeated 1, 2, 4"):
        fragment(shape, times)
