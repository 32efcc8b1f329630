"""Laws of the fragment layouts: every element once, and the gathers invert them."""

import numpy as np
import pytest

from gpu_simulator.hardware import fragments


@pytest.mark.parametrize(("k", "bits"), [(8, 16), (16, 16), (4, 32), (8, 32), (16, 8), (32, 8)])
def test_every_element_of_a_and_b_is_held_once(k, bits):
    for coordinates, rows, columns in (
        (fragments.a_coordinates(k, bits), 16, k),
        (fragments.b_coordinates(k, bits), k, 8),
    ):
        places = coordinates.reshape(-1, 2)
        assert len(places) == rows * columns
        assert {tuple(p) for p in places.tolist()} == {(r, c) for r in range(rows) for c in range(columns)}


def test_every_element_of_c_is_held_once():
    places = fragments.c_coordinates().reshape(-1, 2)
    assert {tuple(p) for p in places.tolist()} == {(r, c) for r in range(16) for c in range(8)}


def test_the_examples_of_the_isa():
    a, b, c = fragments.a_coordinates(16), fragments.b_coordinates(16), fragments.c_coordinates()
    assert a[5, 0].tolist() == [[1, 2], [1, 3]] and a[5, 1].tolist() == [[9, 2], [9, 3]]
    assert a[5, 2].tolist() == [[1, 10], [1, 11]] and b[5, 1].tolist() == [[10, 1], [11, 1]]
    assert c[5].tolist() == [[1, 2], [1, 3], [9, 2], [9, 3]]


@pytest.mark.parametrize(("k", "bits"), [(8, 16), (16, 16), (8, 32), (32, 8)])
def test_gathers_put_elements_where_the_coordinates_say(k, bits):
    rng, each, warps, tiles = np.random.default_rng(k), 32 // bits, 3, 2
    for coordinates, gather, extent in (
        (fragments.a_coordinates(k, bits), fragments.gather_a, 16),
        (fragments.b_coordinates(k, bits), fragments.gather_b, 8),
    ):
        registers = coordinates.shape[1]
        held = rng.integers(0, 99, (tiles, registers, warps, 32, each))
        out = gather(held, each)
        assert out.shape == (warps, tiles * extent, k)
        for tile in range(tiles):
            for lane in (0, 7, 31):
                for register in range(registers):
                    for element in range(each):
                        row, column = coordinates[lane, register, element]
                        row, column = (row, column) if extent == 16 else (column, row)
                        assert out[1, tile * extent + row, column] == held[tile, register, 1, lane, element]


def test_scatter_inverts_gather():
    held = np.random.default_rng(0).integers(0, 99, (2, 3, 2, 4, 32, 2))
    tile = fragments.gather_c(held)
    assert tile.shape == (4, 32, 24)
    back = fragments.scatter_c(tile, 2, 3)
    assert np.array_equal(back.transpose(0, 1, 2, 4, 5, 6, 3).reshape(held.shape), held)
    coordinates = fragments.c_coordinates()
    assert tile[2, 16 + coordinates[9, 3, 0], 8 + coordinates[9, 3, 1]] == held[1, 1, 1, 2, 9, 1]


def test_ldmatrix_and_its_transpose():
    plain, transposed = fragments.ldmatrix_coordinates(), fragments.ldmatrix_coordinates(True)
    assert plain[6].tolist() == [[1, 4], [1, 5]] and np.array_equal(transposed, plain[..., ::-1])
