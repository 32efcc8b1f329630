"""Wrong answers to 05_rows_128. The docstring of each holds words of its refusal."""


def row_too_large(row, chunk):
    """(8, 0) returned 8, but a row of 8 chunks has only the places 0 to 7"""
    return chunk ^ row


def as_in_the_toy(row, chunk):
    """in rows 0 and 4 it lies in the same four banks"""
    return chunk ^ row % 4


def pairs_of_rows(row, chunk):
    """in rows 0 and 1 it lies in the same four banks"""
    return chunk ^ row // 2 % 4


def two_places_a_row(row, chunk):
    """in rows 0 and 4"""
    return (chunk + 2 * row) % 8


def not_permuted(row, chunk):
    """one would overwrite the other"""
    return chunk & row % 8


def by_table(row, chunk):
    """IndexError"""
    return [[c ^ r for c in range(8)] for r in range(8)][row][chunk]
