"""Wrong answers to 03_toy_lane. The docstring of each holds words of its refusal."""


def one_row_each(row, col):
    """pair of elements"""
    return row


def columns(row, col):
    """returned 1; expected 0"""
    return col


def without_the_second_group(row, col):
    """Row 1 belongs to lanes 4 to 7"""
    return col // 2


def halves_of_the_matrix(row, col):
    """Row 1 belongs to lanes 4 to 7"""
    return row // 4 * 4 + col // 2
