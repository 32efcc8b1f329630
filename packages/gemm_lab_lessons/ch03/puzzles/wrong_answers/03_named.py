"""Wrong answers to 03_named. The docstring of each holds words of its refusal."""


def right_first(lane):
    """names row 0 of matrix 1"""
    return lane % 8 + lane // 16 * 8, lane // 8 % 2 * 8


def all_down(lane):
    """returned (16, 0); expected (0, 8)"""
    return lane, 0


def in_chunks(lane):
    """returned (0, 1); expected (0, 8)"""
    return lane % 16, lane // 16


def what_it_receives(lane):
    """returned (0, 2); expected (1, 0)"""
    return lane // 4, lane % 4 * 2
