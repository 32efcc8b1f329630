"""Wrong answers to 03_holder. The docstring of each holds words of its refusal."""


def two_lanes_for_two_rows(row, k):
    """returned (0, 4, 0); expected (0, 1, 0)"""
    return row % 2 * 4 + k // 2, row // 2, k % 2


def rows_beyond_the_warp(row, k):
    """returned (32, 1, 0); expected (0, 1, 0)"""
    return row * 4 + k // 2, row // 8, k % 2


def columns_first(row, k):
    """expected"""
    return k * 4 + row // 4, row // 8, k % 2


def always_the_first_register(row, k):
    """row 0 of the lower eight rows"""
    return row % 8 * 4 + k // 2, 0, k % 2
