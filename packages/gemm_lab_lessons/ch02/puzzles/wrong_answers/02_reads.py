"""Wrong answers to 02_reads. The docstring of each holds words of its refusal."""


def elements_of_the_tile(rows, cols):
    """returned 6; expected 0.75. For one k, the tile does 8 multiply-adds with 2 elements of A and 4 of B"""
    return rows + cols


def for_square_tiles(rows, cols):
    """returned 1.0; expected 0.75"""
    return 2 / rows


def rounded(rows, cols):
    """returned 0; expected 0.75"""
    return 2 if rows * cols == 1 else (rows + cols) // (rows * cols)


def upside_down(rows, cols):
    """returned 0.5; expected 2.0"""
    return rows * cols / (rows + cols)


def by_table(rows, cols):
    """KeyError"""
    return {(1, 1): 2, (2, 4): 0.75, (8, 16): 0.1875, (32, 32): 0.0625}[rows, cols]
