"""Wrong answers to 05_rows_64. The docstring of each holds words of its refusal."""


def rule_of_longer_rows(row, chunk):
    """a row of 4 chunks has only the places 0 to 3"""
    return chunk ^ row % 8


def every_row_another_order(row, chunk):
    """in rows 0 and 4 it lies in the same four banks"""
    return chunk ^ row % 4


def one_bit_only(row, chunk):
    """in rows 0 and 4"""
    return chunk ^ row // 2 % 2


def wrong_pairs(row, chunk):
    """in rows 0 and 2"""
    return chunk ^ row // 4 % 4


def pair_too_large(row, chunk):
    """(8, 0) returned 4"""
    return chunk ^ row // 2


def a_float(row, chunk):
    """TypeError"""
    return chunk ^ row / 2 % 4
