"""Wrong answers to 03_d_element. The docstring of each holds words of its refusal."""


def four_side_by_side(lane, number):
    """returned (0, 2); expected (8, 0)"""
    return lane // 4, lane % 4 * 2 + number


def rows_first(lane, number):
    """returned (8, 0); expected (0, 1)"""
    return lane // 4 + number % 2 * 8, lane % 4 * 2 + number // 2


def one_column_a_lane(lane, number):
    """Lane 1 belongs to row 0"""
    return lane // 4 + number // 2 * 8, lane % 4 + number % 2
