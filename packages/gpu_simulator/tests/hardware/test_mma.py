"""Laws of mma fragments and ldmatrix, over every shape and every coordinate."""

import numpy as np
import pytest

from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.mma_layouts import ACCUMULATORS, BITS, SHAPES, Mma, fragment_load, ldmatrix

EVERY = [Mma(shape, dtype, acc) for dtype, shapes in SHAPES.items() for shape in shapes for acc in ACCUMULATORS[dtype]]
NAMES = [f"{m.shape}.{m.dtype}.{m.accumulator}" for m in EVERY]
LOADED = [
    (m, o, s)
    for m in EVERY
    for o, s in (("A", ""), ("B", ""), ("B", "row-major"))
    if not m.quads and m.dtype != "f64" and (s == "" or BITS[m.dtype] == 16)
]


@pytest.mark.parametrize("mma", EVERY, ids=NAMES)
@pytest.mark.parametrize("operand", "ABC")
def test_every_element_is_held_once(mma, operand):
    held = mma.coordinates(operand)
    rows, columns = mma.extent(operand)
    if mma.quads:  # four products, side by side
        rows, columns = (rows, 4 * columns) if operand == "B" else (4 * rows, columns)
    flat = held.reshape(-1, 2)
    assert len(flat) == rows * columns == len(np.unique(flat[:, 0] * columns + flat[:, 1]))
    assert flat.min() == 0 and flat[:, 0].max() == rows - 1 and flat[:, 1].max() == columns - 1
    bits = mma.per_register(operand) * mma.element_bits(operand)
    assert bits == 32 or (bits == 64 and mma.dtype == "f64")


@pytest.mark.parametrize("mma", EVERY, ids=NAMES)
def test_holder_inverts_coordinates(mma):
    for operand in "ABCD":
        rows, columns = mma.extent(operand)
        for row in range(rows):
            for column in range(0, columns, max(columns // 16, 1)):
                lane, register, element = mma.holder(operand, row, column)
                assert mma.coordinates(operand)[lane, register, element].tolist() == [row, column]


def test_examples_of_the_isa():
    a, b, c = (Mma("m16n8k16", "f16").coordinates(operand) for operand in "ABC")
    assert a[5, 0].tolist() == [[1, 2], [1, 3]] and a[5, 1].tolist() == [[9, 2], [9, 3]]
    assert a[5, 2].tolist() == [[1, 10], [1, 11]] and b[5, 1].tolist() == [[10, 1], [11, 1]]
    assert c[5, :, 0].tolist() == [[1, 2], [1, 3], [9, 2], [9, 3]]
    assert Mma("m8n8k4", "f64").coordinates("C")[6, :, 0].tolist() == [[1, 4], [1, 5]]
    assert Mma("m16n8k8", "f64").coordinates("A")[6, :, 0].tolist() == [[1, 2], [9, 2], [1, 6], [9, 6]]
    assert Mma("m16n8k16", "f64").coordinates("B")[6, :, 0].tolist() == [[2, 1], [6, 1], [10, 1], [14, 1]]
    assert Mma("m16n8k16", "f64").coordinates("A")[6, 5, 0].tolist() == [9, 10]  # a5: row 8 + 6/4, column 2·5-2+6%4
    assert Mma("m16n8k64", "s4").coordinates("A")[5, 2, 3].tolist() == [1, 43]
    assert Mma("m8n8k128", "b1").coordinates("B")[9, 0, 31].tolist() == [63, 2]
    volta = Mma("m8n8k4", "f16")
    assert volta.coordinates("A")[21, 1, 0].tolist() == [8 + 5, 2]
    assert volta.coordinates("C")[19, 6, 0].tolist() == [1 + 2 + 4, 6]  # (i & 4) + (lane & 2) + (i & 1)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_ldmatrix_moves_every_element_once(count, transposed):
    names, held = ldmatrix(count, transposed)
    assert len(np.unique(names[:, 0] * 8 + names[:, 1])) == 8 * count
    flat = held.reshape(-1, 3)
    assert len(np.unique(flat @ [64, 8, 1])) == 64 * count
    assert held[6, 0, :, 1:].tolist() == ([[4, 1], [5, 1]] if transposed else [[1, 4], [1, 5]])
    plain = ldmatrix(count)[1]
    assert np.array_equal(held, plain[..., [0, 2, 1]] if transposed else plain)


@pytest.mark.parametrize(
    ("mma", "operand", "stored"), LOADED, ids=lambda v: v if isinstance(v, str) else v.shape + v.dtype
)
def test_ldmatrix_fills_the_fragment(mma, operand, stored):
    """Rows of the stored tile, cut into 16-byte chunks and dealt by ldmatrix, arrive where mma wants them."""
    load, each = fragment_load(mma, operand, stored), mma.per_register(operand)
    rows, columns = mma.extent(operand)
    names, received = ldmatrix(load.count, load.transposed)
    line_up = np.array(load.rows).reshape(-1, 8), np.array(load.chunks).reshape(-1, 8)
    matrix, row, column = received[..., 0], received[..., 1], received[..., 2]
    stored_row, chunk = line_up[0][matrix, row], line_up[1][matrix, row]
    bits = chunk * 128 + column * 16  # where the 16-bit half begins in its stored row
    half = 16 // mma.element_bits(operand) if mma.element_bits(operand) < 16 else 1
    first = bits // mma.element_bits(operand)
    minor = first[..., None] + np.arange(half)
    major = np.broadcast_to(stored_row[..., None], minor.shape)
    major, minor = (x.reshape(32, load.count, -1)[..., :: 2 if mma.dtype == "tf32" else 1] for x in (major, minor))
    swap = operand == "B" and stored != "row-major"
    got = np.stack((minor, major) if swap else (major, minor), axis=-1)
    assert got.shape[2] == each and np.array_equal(got, mma.coordinates(operand))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Mma("m16n8k16", "f12"), "bf16"),
        (lambda: Mma("m16n8k32", "bf16"), "m16n8k8, m16n8k16"),
        (lambda: Mma("m16n8k16", "bf16", "f16"), "f32"),
        (lambda: Mma("m16n8k16", "bf16").coordinates("A") is Mma("m16n8k8", "f16").extent("E"), "A, B, C and D"),
        (lambda: Mma("m16n8k16", "bf16").holder("A", 16, 0), "16 × 16"),
        (lambda: ldmatrix(3), "1, 2 or 4"),
        (lambda: fragment_load(Mma("m16n8k16", "f64"), "A"), "32-bit registers"),
        (lambda: fragment_load(Mma("m16n8k32", "s8"), "B", "row-major"), "16-bit"),
    ],
)
def test_what_does_not_exist_is_refused(make, said):
    with pytest.raises(SimulatorError, match=said):
        make()
